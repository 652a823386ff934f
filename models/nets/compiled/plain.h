// Products in the precision of the numbers themselves, on any processor.
#pragma once
#include "scan.h"

template <class Real>
struct PlainProducts {
    using R = Row<Real>;
    using Vector = typename R::Vector;
    static constexpr int STRIP = 8;  // rows of a group that share the loads of the features
#ifdef __AVX512F__
    static constexpr int TALL = 16;  // rows of the weights' gradient that stay in registers
#else
    static constexpr int TALL = 4;
#endif

    Shape shape;
    int64_t wanted;                       // features whose gradient is asked for
    const Real *weight, *strips, *fixed;  // (rows, F), (rows / 8, F, 8); a block first: (rows, 32)
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

    // Z of a group: fixed + W u.
    void group(int64_t b, int64_t g, Real* z) const {
        const int64_t F = shape.features(), first = g * shape.padded;
        for (int64_t r = 0; r < shape.padded; r += STRIP) {
            R sums[STRIP];
            for (int n = 0; n < STRIP; n++) sums[n] = R::load(fixed + (b * shape.rows() + first + r + n) * SAMPLES);
            const Real* w = strips + (first + r) * F;
            for (int64_t f = 0; f < F; f++, w += STRIP) {
                R feature = R::load(u + (b * F + f) * SAMPLES);
                for (int n = 0; n < STRIP; n++) sums[n] = sums[n] + R::of(w[n]) * feature;
            }
            for (int n = 0; n < STRIP; n++) sums[n].store(z + (r + n) * SAMPLES);
        }
    }

    // Adds what dZ of a group gives to the gradients of weights, fixed part and features.
    void take(int64_t b, int64_t g, const Real* dz) {
        const int64_t K = shape.cells, first = g * shape.padded;
        for (int64_t k = 0; k < K; k++) {
            Real* sum = d_fixed + (b * shape.rows() + first + k) * SAMPLES;
            (R::load(sum) + R::load(dz + k * SAMPLES)).store(sum);
        }
        int64_t f = 0;
        for (; f + STRIP <= wanted; f += STRIP) features_back<STRIP>(b, first, f, dz);
        for (; f < wanted; f++) features_back<1>(b, first, f, dz);
        for (int64_t at = 0; at < shape.wide(); at += R::LANES) {
            int64_t k = 0;
            for (; k + TALL <= K; k += TALL) weights_back<TALL>(b, first + k, at, dz + k * SAMPLES);
            for (; k < K; k++) weights_back<1>(b, first + k, at, dz + k * SAMPLES);
        }
    }

    template <int COUNT>
    void features_back(int64_t b, int64_t first, int64_t f, const Real* dz) {
        R sums[COUNT];
        for (int n = 0; n < COUNT; n++) sums[n] = R::load(d_features(b) + (f + n) * SAMPLES);
        const Real* w = weight + first * shape.features() + f;
        for (int64_t k = 0; k < shape.cells; k++, w += shape.features()) {
            R d = R::load(dz + k * SAMPLES);
            for (int n = 0; n < COUNT; n++) sums[n] = sums[n] + R::of(w[n]) * d;
        }
        for (int n = 0; n < COUNT; n++) sums[n].store(d_features(b) + (f + n) * SAMPLES);
    }

    template <int COUNT>
    void weights_back(int64_t b, int64_t row, int64_t at, const Real* dz) {
        Vector sums[COUNT];
        Real* to = d_weight + row * shape.wide() + at;
        for (int n = 0; n < COUNT; n++) sums[n] = *reinterpret_cast<Vector*>(to + n * shape.wide());
        for (int s = 0; s < SAMPLES; s++) {
            Vector features = *reinterpret_cast<Vector*>(across + (b * SAMPLES + s) * shape.wide() + at);
            for (int n = 0; n < COUNT; n++) sums[n] = sums[n] + dz[n * SAMPLES + s] * features;
        }
        for (int n = 0; n < COUNT; n++) *reinterpret_cast<Vector*>(to + n * shape.wide()) = sums[n];
    }

    void finish_day() {}
    void finish() {}
};
