// Blocks multiplied by the dot products of the vector unit (AVX512-BF16).
#pragma once
#include "halves.h"
#ifdef FRESHET_HALVES

struct DotUnit {
    static constexpr int STRIP = 8;  // rows of A whose sums stay in registers

    static void begin() {}
    static void end() {}

    // `from` and `to` have rows of 2 tiles, `stride` numbers apart.
    static void multiply(const Block& block, const float* from, float* to, int64_t stride) {
        for (int tile = 0; tile < 2; tile++)
            for (int row = 0; row < TILE; row += STRIP) {
                const int64_t first = (tile * TILE + row) * stride;
                const Half* a = block.a[tile] + row * block.a_stride / 2;
                if (block.b[1]) strip<2>(block, a, from + first, to + first, stride);
                else strip<1>(block, a, from + first, to + first, stride);
            }
    }

    template <int COLUMNS>
    static void strip(const Block& block, const Half* a, const float* from, float* to, int64_t stride) {
        __m512 sums[STRIP][COLUMNS];
        for (int n = 0; n < STRIP; n++)
            for (int c = 0; c < COLUMNS; c++) sums[n][c] = _mm512_load_ps(from + n * stride + c * TILE);
        for (int64_t d = 0; d * TILE < block.pairs; d++) {
            const int64_t ahead = block.pairs - d * TILE, count = ahead < TILE ? ahead : TILE;
            for (int64_t pair = 0; pair < count; pair++) {
                const int64_t at = d * block.b_step + pair * block.b_stride / 2;
                __m512bh columns[COLUMNS];
                for (int c = 0; c < COLUMNS; c++) columns[c] = pairs(block.b[c] + at);
                for (int n = 0; n < STRIP; n++) {
                    const __m512bh one = everywhere(a + d * block.a_step + n * block.a_stride / 2 + pair * 2);
                    for (int c = 0; c < COLUMNS; c++) sums[n][c] = _mm512_dpbf16_ps(sums[n][c], one, columns[c]);
                }
            }
        }
        for (int n = 0; n < STRIP; n++)
            for (int c = 0; c < COLUMNS; c++) _mm512_store_ps(to + n * stride + c * TILE, sums[n][c]);
    }

    static __m512bh pairs(const Half* p) { return (__m512bh)_mm512_load_si512(p); }
    static __m512bh everywhere(const Half* p) {
        int32_t pair;
        memcpy(&pair, p, sizeof(pair));
        return (__m512bh)_mm512_set1_epi32(pair);
    }
};
#endif
