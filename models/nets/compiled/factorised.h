// Products of a factorised R: Z_j = U_j v + b_j of a source cell, with the mixtures v = V u of a day, computed once for all.
#pragma once
#include "plain.h"

template <class Real>
struct FactorisedProducts : PlainProducts<Real> {
    using Plain = PlainProducts<Real>;
    using R = Row<Real>;
    using Plain::shape;
    static constexpr int USUAL_RANK = 16;  // known to the compiler

    const Real *factor, *bias;  // U, (K P, r), and b, (K P)
    Real *d_factor, *d_bias;    // (K P, r); (K P, LANES), to be summed over the lanes; not used forward
    Real* buffers;              // of the day, a block first: v (r, 32), its transpose (32, r), its gradient (r, 32)

    static int64_t buffer_rows(const Shape& s) { return 3 * s.blocks * s.rank; }
    Real* mixtures(int64_t b) const { return buffers + 3 * b * shape.rank * SAMPLES; }
    Real* across_mixtures(int64_t b) const { return mixtures(b) + shape.rank * SAMPLES; }
    Real* d_mixtures(int64_t b) const { return mixtures(b) + 2 * shape.rank * SAMPLES; }

    void begin_day(int64_t b, const Real* features) {
        Plain::begin_day(b, features);
        Real *v = mixtures(b), *across = across_mixtures(b);
        Plain::linear(b, 0, shape.rank, v);
        if (!d_factor) return;
        for (int64_t r = 0; r < shape.rank; r++)
            for (int s = 0; s < SAMPLES; s++) across[s * shape.rank + r] = v[r * SAMPLES + s];
        memset(d_mixtures(b), 0, shape.rank * SAMPLES * sizeof(Real));
    }

    void group(int64_t b, int64_t g, Real* z) const {
        if (g >= shape.cells) return Plain::group(b, g, z);
        for (int64_t k = 0; k < shape.padded; k++) R::of(bias[g * shape.padded + k]).store(z + k * SAMPLES);
        if (shape.rank == USUAL_RANK) source<USUAL_RANK>(b, g, z);
        else source<0>(b, g, z);
    }

    template <int RANK>  // 0: any
    void source(int64_t b, int64_t g, Real* z) const {
        const int64_t r = RANK ? RANK : shape.rank;
        Plain::multiply({factor + g * shape.padded * r, r, 1}, shape.padded, r, mixtures(b), SAMPLES, z, z,
                        Plain::extent());
    }

    void take(int64_t b, int64_t g, const Real* dz) {
        if (g >= shape.cells) return Plain::take(b, g, dz);
        const int64_t first = g * shape.padded;
        for (int64_t k = 0; k < shape.cells; k++) {
            const R row = R::load(dz + k * SAMPLES);
            auto& sum = Plain::at(d_bias + (first + k) * R::LANES, 0);
            for (const auto& part : row.v) sum = sum + part;
        }
        if (shape.rank == USUAL_RANK) source_backward<USUAL_RANK>(b, g, dz);
        else source_backward<0>(b, g, dz);
    }

    template <int RANK>
    void source_backward(int64_t b, int64_t g, const Real* dz) {
        const int64_t K = shape.cells, r = RANK ? RANK : shape.rank, first = g * shape.padded;
        Plain::multiply({factor + first * r, 1, r}, r, K, dz, SAMPLES, d_mixtures(b), d_mixtures(b), SAMPLES);
        Real* to = d_factor + first * r;
        Plain::multiply({dz, SAMPLES, 1}, K, SAMPLES, across_mixtures(b), r, to, to, r);
    }

    // Of the day whose groups are all taken.
    Real* d_features(int64_t b) {
        Plain::linear_backward(b, 0, shape.rank, d_mixtures(b));
        return Plain::d_features(b);
    }
};
