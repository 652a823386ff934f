// Blocks multiplied by the dot products of the vector unit (AVX512-BF16).
#pragma once
#include "halves.h"
#ifdef FRESHET_HALVES

struct DotUnit {
    static constexpr int STRIP = 8;  // rows of A whose sums stay in registers

    static void begin() {}
    static void end() {}

    // `to` has rows of 2 tiles, `stride` numbers apart; `ADD`: to what is there.
    template <bool ADD>
    static void multiply(const Block& block, float* to, int64_t stride) {
        for (int tile = 0; tile < 2; tile++)
            for (int row = 0; row < TILE; row += STRIP)
                strip<ADD>(block, block.a[tile] + row * block.a_stride / 2, to + (tile * TILE + row) * stride, stride);
    }

    template <bool ADD>
    static void strip(const Block& block, const Half* a, float* to, int64_t stride) {
        __m512 sums[STRIP][2];
        for (int n = 0; n < STRIP; n++)
            for (int half = 0; half < 2; half++)
                sums[n][half] = ADD ? _mm512_load_ps(to + n * stride + half * TILE) : _mm512_setzero_ps();
        for (int64_t d = 0; d * TILE < block.pairs; d++) {
            const int64_t ahead = block.pairs - d * TILE, count = ahead < TILE ? ahead : TILE;
            for (int64_t pair = 0; pair < count; pair++) {
                const int64_t at = d * block.b_step + pair * block.b_stride / 2;
                const __m512bh left = pairs(block.b[0] + at), right = pairs(block.b[1] + at);
                for (int n = 0; n < STRIP; n++) {
                    const __m512bh one = everywhere(a + d * block.a_step + n * block.a_stride / 2 + pair * 2);
                    sums[n][0] = _mm512_dpbf16_ps(sums[n][0], one, left);
                    sums[n][1] = _mm512_dpbf16_ps(sums[n][1], one, right);
                }
            }
        }
        for (int n = 0; n < STRIP; n++)
            for (int half = 0; half < 2; half++) _mm512_store_ps(to + n * stride + half * TILE, sums[n][half]);
    }

    static __m512bh pairs(const Half* p) { return (__m512bh)_mm512_load_si512(p); }
    static __m512bh everywhere(const Half* p) {
        int32_t pair;
        memcpy(&pair, p, sizeof(pair));
        return (__m512bh)_mm512_set1_epi32(pair);
    }
};
#endif
