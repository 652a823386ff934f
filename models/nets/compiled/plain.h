// Products in the precision of the numbers themselves, on any processor.
#pragma once
#include "scan.h"

// A tile's sums stay in registers where its loops are unrolled, and addresses are constants where sizes are.
#define UNROLLED _Pragma("clang loop unroll(full)")
#define INLINED inline __attribute__((always_inline))

template <class Real>
struct PlainProducts {
    using R = Row<Real>;
    using Vector = typename R::Vector;
    static constexpr int LANES = R::LANES;
    // A tile of sums that stays in registers, HIGH rows by WIDE vectors.
#ifdef __AVX512F__
    static constexpr int HIGH = 8, WIDE = 2;
#else
    static constexpr int HIGH = 6, WIDE = 1;
#endif

    Shape shape;
    int64_t wanted;                       // features whose gradient is asked for
    const Real *weight, *fixed;           // (rows, F); a block first: (rows, 32)
    Real *d_weight, *d_fixed;             // (rows, wide); a block first: (rows, 32); not used forward
    Real *across, *back;                  // of the day, a block first: (32, wide) and (F, 32)
    const Real* u = nullptr;              // of the day, a block first: (F, 32)

    void begin_day(int64_t b, const Real* features) {
        if (b == 0) u = features;
        if (!d_weight) return;
        const int64_t F = shape.features(), wide = shape.wide();
        for (int64_t f = 0; f < F; f++)
            for (int s = 0; s < SAMPLES; s++) across[(b * SAMPLES + s) * wide + f] = features[f * SAMPLES + s];
        memset(d_features(b), 0, F * SAMPLES * sizeof(Real));
    }

    Real* d_features(int64_t b) const { return back + b * shape.features() * SAMPLES; }

    // Samples of a block whose products are computed; backward those of all.
    int64_t extent() const { return d_weight ? SAMPLES : shape.occupied; }

    // A matrix by its rows and columns, or transposed: the numbers from one to the next.
    struct Factor {
        const Real* begin;
        int64_t row, column;
    };

    // Z of a group.
    void group(int64_t b, int64_t g, Real* z) const { linear(b, shape.first(g), shape.padded, z); }

    // Adds what dZ of a group gives to all gradients.
    void take(int64_t b, int64_t g, const Real* dz) { linear_backward(b, shape.first(g), shape.cells, dz); }

    // Some rows of fixed + W u.
    void linear(int64_t b, int64_t first, int64_t rows, Real* z) const {
        const int64_t F = shape.features();
        const Factor w{weight + first * F, F, 1};
        multiply(w, rows, F, u + b * F * SAMPLES, SAMPLES, fixed + (b * shape.rows() + first) * SAMPLES, z,
                 extent());
    }

    // Adds what their gradient gives to those of weights, fixed part and features.
    void linear_backward(int64_t b, int64_t first, int64_t rows, const Real* dz) {
        const int64_t F = shape.features(), wide = shape.wide();
        for (int64_t k = 0; k < rows; k++) {
            Real* sum = d_fixed + (b * shape.rows() + first + k) * SAMPLES;
            (R::load(sum) + R::load(dz + k * SAMPLES)).store(sum);
        }
        multiply({weight + first * F, 1, F}, wanted, rows, dz, SAMPLES, d_features(b), d_features(b), SAMPLES);
        Real* to = d_weight + first * wide;
        multiply({dz, SAMPLES, 1}, rows, SAMPLES, across + b * SAMPLES * wide, wide, to, to, wide);
    }

    // to = from + A B: A of `rows` by `depth`, the others with `width` numbers a row, of which `extent` are computed.
    static INLINED void multiply(Factor a, int64_t rows, int64_t depth, const Real* b, int64_t width, const Real* from, Real* to,
                                 int64_t extent) {
        int64_t column = 0;
        for (; column + WIDE * LANES <= extent; column += WIDE * LANES)
            tiles<HIGH, WIDE>(a, rows, depth, b + column, width, from + column, to + column);
        for (; column < extent; column += LANES)
            tiles<HIGH * WIDE, 1>(a, rows, depth, b + column, width, from + column, to + column);
    }

    // One above the other, lower ones at the end.
    template <int ROWS, int COLUMNS>
    static INLINED void tiles(Factor a, int64_t rows, int64_t depth, const Real* b, int64_t width, const Real* from, Real* to) {
        for (; rows >= ROWS; rows -= ROWS, a.begin += ROWS * a.row, from += ROWS * width, to += ROWS * width)
            tile<ROWS, COLUMNS>(a, depth, b, width, from, to);
        if constexpr (ROWS > 1) tiles<ROWS / 2, COLUMNS>(a, rows, depth, b, width, from, to);
    }

    template <int ROWS, int COLUMNS>
    static INLINED void tile(Factor a, int64_t depth, const Real* b, int64_t width, const Real* from, Real* to) {
        Vector sums[ROWS][COLUMNS];
        UNROLLED for (int n = 0; n < ROWS; n++)
            UNROLLED for (int c = 0; c < COLUMNS; c++) sums[n][c] = at(from + n * width, c);
        for (int64_t d = 0; d < depth; d++, b += width)
            UNROLLED for (int n = 0; n < ROWS; n++)
                UNROLLED for (int c = 0; c < COLUMNS; c++) sums[n][c] = sums[n][c] + a.begin[n * a.row + d * a.column] * at(b, c);
        UNROLLED for (int n = 0; n < ROWS; n++)
            UNROLLED for (int c = 0; c < COLUMNS; c++) at(to + n * width, c) = sums[n][c];
    }

    static Vector& at(Real* p, int c) { return reinterpret_cast<Vector*>(p)[c]; }
    static const Vector& at(const Real* p, int c) { return reinterpret_cast<const Vector*>(p)[c]; }

    void finish_day() {}
    void finish() {}
};
