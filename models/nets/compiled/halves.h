// Products of bfloat16 with sums in float32. A unit multiplies blocks: `TileUnit` of the matrix unit (AMX), `DotUnit` of
// the vector unit (AVX512-BF16).
#pragma once
#if defined(__AVX512BF16__) && defined(__AVX512BW__)
#define FRESHET_HALVES 1
#include <immintrin.h>

#include "scan.h"

typedef uint16_t Half;  // the bits of a bfloat16

constexpr int TILE = 16, PAIRS = 32;  // rows of a tile; numbers of bfloat16 in one of them

inline __m512i halves(const float* low, const float* high) {
    return (__m512i)_mm512_cvtne2ps_pbh(_mm512_load_ps(high), _mm512_load_ps(low));
}

// What a unit multiplies and adds: 2 tiles of A's rows by 2 of B's columns (1 where the other is null), along tiles
// padded with zeros.
struct Block {
    const Half *a[2], *b[2];
    int64_t a_stride, b_stride;  // bytes from row to row
    int64_t a_step, b_step;      // numbers from one tile to the next along the depth
    int64_t pairs;               // of numbers along the depth, the padding left out
};

template <class Unit>
struct HalfProducts {
    static constexpr int SLOTS = 8;  // days times blocks whose dZ wait for the gradient of the weights

    Shape shape;
    const Half *weight;    // (rows, deep), features padded to 32
    const Half *weight_T;  // in tiles: (rows / 32, deep / 16, 16, 32)
    const float* fixed;    // a block first: (rows, 32)
    int64_t wanted;        // features whose gradient is asked for
    float *d_weight, *d_fixed;  // (rows, deep); a block first: (rows, 32); not used forward
    Half *down, *across;   // features: of the day, a block first (deep / 2, 32, 2); in tiles (SLOTS, deep / 16, 16, 16, 2)
    Half *dz_down, *dz_rows;  // dZ: of the group (P / 2, 32, 2); (SLOTS, rows, 32)
    float* back;              // a block first: (deep, 32)
    int64_t waiting = 0;      // slots in use before today's

    int64_t deep() const { return (shape.features() + PAIRS - 1) / PAIRS * PAIRS; }
    float* d_features(int64_t b) const { return back + b * deep() * SAMPLES; }

    void begin_day(int64_t b, const float* u) {
        write(b, u);
        if (!d_weight) return;
        write_across(waiting + b, u);
        memset(d_features(b), 0, deep() * SAMPLES * sizeof(float));
    }

    void write(int64_t b, const float* u) {
        const __m512i low = interleaved(0), high = interleaved(16);
        alignas(64) static const float zeros[SAMPLES] = {};
        for (int64_t f = 0; f < shape.features(); f += 2) {
            const float *even = u + f * SAMPLES, *odd = f + 1 < shape.features() ? even + SAMPLES : zeros;
            interleave(halves(even, even + 16), halves(odd, odd + 16), low, high, down + (b * deep() + f) * SAMPLES);
        }
    }

    void write_across(int64_t slot, const float* u) {
        const __m512i rows = _mm512_mullo_epi32(_mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0),
                                                _mm512_set1_epi32(TILE));
        for (int64_t f = 0; f < shape.features(); f++) {
            Half* to = across + (slot * deep() + f / TILE * TILE) * SAMPLES + f % TILE * 2;
            _mm512_i32scatter_epi32(to, rows, halves(u + f * SAMPLES, u + f * SAMPLES + TILE), 4);
        }
    }

    static __m512i interleaved(int from) {
        alignas(64) uint16_t at[32];
        for (int n = 0; n < 16; n++) at[2 * n] = from + n, at[2 * n + 1] = 32 + from + n;
        return _mm512_load_si512(at);
    }

    // Two rows of 32 samples become pairs, a pair a sample.
    static void interleave(__m512i even, __m512i odd, __m512i low, __m512i high, Half* to) {
        _mm512_store_si512(to, _mm512_permutex2var_epi16(even, low, odd));
        _mm512_store_si512(to + 32, _mm512_permutex2var_epi16(even, high, odd));
    }

    // Z of a group: fixed + W u.
    void group(int64_t b, int64_t g, float* z) const {
        const Half *u = down + b * deep() * SAMPLES, *other = d_weight || shape.occupied > HALF_BLOCK ? u + 32 : nullptr;
        for (int64_t r = 0; r < shape.padded; r += 2 * TILE) {
            const int64_t row = g * shape.padded + r;
            const Half* first = weight + row * deep();
            const Block block{{first, first + TILE * deep()}, {u, other}, deep() * 2, 128, PAIRS, TILE * 64, (shape.features() + 1) / 2};
            Unit::multiply(block, fixed + (b * shape.rows() + row) * SAMPLES, z + r * SAMPLES, SAMPLES);
        }
    }

    // Stores dZ of a group for the gradient of the weights, and adds W^T dZ to that of the features.
    void take(int64_t b, int64_t g, const float* dz) {
        const __m512i low = interleaved(0), high = interleaved(16);
        alignas(64) static const float zeros[SAMPLES] = {};
        for (int64_t k = 0; k < shape.cells; k += 2) {
            const float *p = dz + k * SAMPLES, *after = k + 1 < shape.cells ? p + SAMPLES : zeros;
            const __m512i even = halves(p, p + 16), odd = halves(after, after + 16);
            interleave(even, odd, low, high, dz_down + k * SAMPLES);
            const int64_t row = g * shape.padded + k;
            Half* stored = dz_rows + ((waiting + b) * shape.rows() + row) * SAMPLES;
            _mm512_store_si512(stored, even);
            _mm512_store_si512(stored + SAMPLES, odd);
        }
        const int64_t step = deep() * PAIRS, depth = shape.padded / PAIRS;
        for (int64_t f = 0; f < wanted; f += 2 * TILE) {
            const Half* first = weight_T + g * depth * step + f * PAIRS;
            const Block block{{first, first + TILE * PAIRS}, {dz_down, dz_down + 32}, 64, 128, step, TILE * 64, (shape.cells + 1) / 2};
            float* to = d_features(b) + f * SAMPLES;
            Unit::multiply(block, to, to, SAMPLES);
        }
    }

    void finish_day() {
        waiting += shape.blocks;
        if (waiting + shape.blocks > SLOTS) finish();
    }

    // The gradients of weights and fixed part over the slots that wait: dZ u^T, and dZ.
    void finish() {
        for (int64_t r = 0; waiting && r < shape.rows(); r += 2 * TILE) {
            for (int64_t f = 0; f < deep(); f += 2 * TILE) {
                const Half *dz = dz_rows + r * SAMPLES, *u = across + f * SAMPLES;
                const Half* next = f + TILE < shape.features() ? u + TILE * SAMPLES : nullptr;
                const Block block{{dz, dz + TILE * SAMPLES}, {u, next}, 64, 64, shape.rows() * SAMPLES, deep() * SAMPLES, waiting * TILE};
                float* to = d_weight + r * deep() + f;
                Unit::multiply(block, to, to, deep());
            }
            for (int64_t row = r; row < r + 2 * TILE; row++) fixed_back(row);
        }
        waiting = 0;
    }

    void fixed_back(int64_t row) {
        for (int64_t b = 0; b < shape.blocks; b++) {
            float* to = d_fixed + (b * shape.rows() + row) * SAMPLES;
            __m512 low = _mm512_load_ps(to), high = _mm512_load_ps(to + TILE);
            for (int64_t slot = b; slot < waiting; slot += shape.blocks) {
                const Half* dz = dz_rows + (slot * shape.rows() + row) * SAMPLES;
                low += whole(dz);
                high += whole(dz + TILE);
            }
            _mm512_store_ps(to, low);
            _mm512_store_ps(to + TILE, high);
        }
    }

    // A bfloat16 is the upper half of a float32.
    static __m512 whole(const Half* p) {
        const __m512i bits = _mm512_cvtepu16_epi32(_mm256_load_si256(reinterpret_cast<const __m256i*>(p)));
        return (__m512)_mm512_slli_epi32(bits, 16);
    }
};
#endif
