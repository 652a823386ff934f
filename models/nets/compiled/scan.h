// The days of MC-LSTM for a team of blocks of samples, forward and backward; scan.py has the equations.
// `Products` multiplies by the weights: `PlainProducts` in any precision, `HalfProducts` in bfloat16.
// The blocks of a team take turns at each source cell, so that its weights come from memory once a day for all.
#pragma once
#include <string.h>

#include "rows.h"

struct Shape {
    int64_t days, blocks, cells, padded;  // T, blocks of the team, K, P: rows of a group
    int64_t drivers, rank;                // D; r, padded, or 0 where R is not factorised
    int64_t tags;                         // G, 0 where water has no tags
    int64_t occupied;                     // samples of a block whose products count forward: HALF_BLOCK or SAMPLES
    // Rows of the weights that see the features: R's groups, or the mixtures v in their place; then i's and o's.
    int64_t first(int64_t group) const {
        return group < cells ? group * padded : (rank ? rank : cells * padded) + (group - cells) * padded;
    }
    int64_t rows() const { return first(cells + 2); }
    int64_t features() const { return cells + drivers; }  // F
    int64_t wide() const { return (features() + 15) / 16 * 16; }  // of a row of the weights' gradient in full precision
    int64_t cell_rows() const { return cells * SAMPLES; }
};

// Water divided by tags, a block first: what falls (T, G, 32), what is in the cells (G, K, 32), before the first day
// and then after the last, and what leaves by the cells but the first and by the first (T, G, 32).
template <class Real>
struct Tags {
    const Real* mass;
    Real *cells, *discharge, *loss;
};

template <class Real>
struct Scan {
    using R = Row<Real>;
    static constexpr Real EPSILON = Real(1e-5), DEAD_COLUMN = Real(1e-30);

    Shape shape;
    const Real *drivers, *mass, *cells;  // a block first: (T, D, 32), (T, 32), (K, 32)
    Real *storage, *outflow;             // (T, K, 32)
    const Real* wetness;                 // (K), or null
    Real* d_wetness;                     // (K, LANES), to be summed over the lanes; not used forward
    Tags<Real> tags;
    Real* scratch;                       // of scratch_rows rows

    // u of every block, then z, next or i, for every block m or dm, q, norm, and m of every tag.
    static int64_t scratch_rows(const Shape& s) {
        return s.blocks * (s.features() + 2 * s.cells + 1 + s.tags * s.cells) + 2 * s.padded;
    }
    Real* u(int64_t b) const { return scratch + b * shape.features() * SAMPLES; }
    Real* z() const { return u(shape.blocks); }
    Real* next() const { return z() + shape.padded * SAMPLES; }
    Real* m(int64_t b) const { return next() + shape.padded * SAMPLES + b * (2 * shape.cells + 1) * SAMPLES; }
    Real* q(int64_t b) const { return m(b) + shape.cell_rows(); }
    Real* norm(int64_t b) const { return q(b) + shape.cell_rows(); }
    Real* m(int64_t b, int64_t g) const { return m(shape.blocks) + (b * shape.tags + g) * shape.cell_rows(); }
    Real* tag_cells(int64_t b, int64_t g) const { return tags.cells + (b * shape.tags + g) * shape.cell_rows(); }

    static R row(const Real* p, int64_t k) { return R::load(p + k * SAMPLES); }
    static void put(Real* p, int64_t k, R value) { value.store(p + k * SAMPLES); }

    int64_t at(int64_t b, int64_t t) const { return b * shape.days + t; }
    const Real* before(int64_t b, int64_t t) const {
        return t ? storage + at(b, t - 1) * shape.cell_rows() : cells + b * shape.cell_rows();
    }

    // u = (c / |c|, drivers); stores |c| + eps.
    template <class Products>
    void begin_day(Products& products, int64_t b, int64_t t) const {
        const Real* c = before(b, t);
        R total = R::of(EPSILON);
        for (int64_t k = 0; k < shape.cells; k++) total = total + row(c, k);
        const R factor = R::of(1) / total;
        for (int64_t k = 0; k < shape.cells; k++) put(u(b), k, row(c, k) * factor);
        const int64_t size = shape.drivers * SAMPLES;
        memcpy(u(b) + shape.cell_rows(), drivers + at(b, t) * size, size * sizeof(Real));
        put(norm(b), 0, total);
        products.begin_day(b, u(b));
    }

    // i = sigma(z) / sum of sigma(z); times exp(min(0, max z)), so that it is never 0 / 0. Over z in place.
    void input_gate(Real* z) const {
        R most = row(z, 0);
        for (int64_t k = 1; k < shape.cells; k++) most = greater(most, row(z, k));
        R shift = R::of(0) - positive(R::of(0) - most), lifted = exponential(shift), sum = R::of(0);
        for (int64_t k = 0; k < shape.cells; k++) {
            R part = R::of(1) / (lifted + exponential(shift - row(z, k)));
            put(z, k, part);
            sum = sum + part;
        }
        R factor = R::of(1) / sum;
        for (int64_t k = 0; k < shape.cells; k++) put(z, k, row(z, k) * factor);
    }

    template <class Products>
    void forward(Products& products, Real* discharge) {
        for (int64_t t = 0; t < shape.days; t++) {
            for (int64_t b = 0; b < shape.blocks; b++) {
                begin_day(products, b, t);
                products.group(b, shape.cells, z());
                input_gate(z());
                fall(row(mass, at(b, t)), m(b));
                for (int64_t g = 0; g < shape.tags; g++) fall(row(tags.mass, at(b, t) * shape.tags + g), m(b, g));
            }
            for (int64_t j = 0; j < shape.cells; j += 2)
                for (int64_t b = 0; b < shape.blocks; b++) route(products, b, before(b, t), j);
            for (int64_t b = 0; b < shape.blocks; b++) release(products, b, t, discharge + at(b, t) * SAMPLES);
        }
    }

    // m = i x, with i in z.
    void fall(R x, Real* m) const {
        for (int64_t k = 0; k < shape.cells; k++) put(m, k, row(z(), k) * x);
    }

    // Adds the water of two source cells, or of the last one, to m: that of all tags together, then that of each.
    template <class Products>
    void route(Products& products, int64_t b, const Real* c, int64_t j) const {
        const bool two = j + 1 < shape.cells;
        products.group(b, j, z());
        if (two) products.group(b, j + 1, next());
        const R first = reach(z()), second = two ? reach(next()) : R::of(0);
        spread(first, second, c, j, m(b));
        for (int64_t g = 0; g < shape.tags; g++) spread(first, second, tag_cells(b, g), j, m(b, g));
    }

    // What s of the two source cells makes of their water.
    void spread(R first_s, R second_s, const Real* c, int64_t j, Real* m) const {
        const R first = share(first_s, c, j, m);
        if (j + 1 == shape.cells) {
            for (int64_t k = 0; k < shape.cells; k++) put(m, k, row(m, k) + first * positive(row(z(), k)));
            return;
        }
        const R second = share(second_s, c, j + 1, m);
        for (int64_t k = 0; k < shape.cells; k++)
            put(m, k, row(m, k) + first * positive(row(z(), k)) + second * positive(row(next(), k)));
    }

    template <class Products>
    void release(Products& products, int64_t b, int64_t t, Real* discharge) const {
        products.group(b, shape.cells + 1, z());
        for (int64_t k = 0; k < shape.cells; k++) put(z(), k, opened(k, row(z(), k), row(m(b), k)));
        Real *after = storage + at(b, t) * shape.cell_rows(), *out = outflow + at(b, t) * shape.cell_rows();
        R total = R::of(0);
        for (int64_t k = 0; k < shape.cells; k++) {
            const R h = row(z(), k) * row(m(b), k);
            put(out, k, h);
            put(after, k, row(m(b), k) - h);
            if (k) total = total + h;
        }
        total.store(discharge);
        if (shape.tags) add_up(b);
        for (int64_t g = 0; g < shape.tags; g++) release_tag(b, g, at(b, t) * shape.tags + g);
    }

    // o = sigma(z + log(1 + kappa m)): the more a cell holds, the larger the share that leaves it.
    R opened(int64_t k, R z, R m) const {
        if (!wetness) return logistic(z);
        const R lifted = R::of(1) + R::of(wetness[k]) * m;
        return lifted / (lifted + exponential(R::of(0) - z));
    }

    // Takes from the tags of every cell what rounding added to them, and gives them what it took.
    void add_up(int64_t b) const {
        for (int64_t k = 0; k < shape.cells; k++) {
            R total = row(m(b, 0), k);
            for (int64_t g = 1; g < shape.tags; g++) total = total + row(m(b, g), k);
            const R factor = where_above(total, Real(0), row(m(b), k) / total, R::of(1));
            for (int64_t g = 0; g < shape.tags; g++) put(m(b, g), k, row(m(b, g), k) * factor);
        }
    }

    // With o in z.
    void release_tag(int64_t b, int64_t g, int64_t day) const {
        R total = R::of(0);
        for (int64_t k = 0; k < shape.cells; k++) {
            const R h = row(z(), k) * row(m(b, g), k);
            put(tag_cells(b, g), k, row(m(b, g), k) - h);
            if (k) total = total + h;
            else put(tags.loss, day, h);
        }
        put(tags.discharge, day, total);
    }

    // s of a source cell.
    R reach(const Real* z) const {
        R sums[4] = {R::of(0), R::of(0), R::of(0), R::of(0)};
        int64_t k = 0;
        for (; k + 3 < shape.cells; k += 4)
            for (int n = 0; n < 4; n++) sums[n] = sums[n] + positive(row(z, k + n));
        for (; k < shape.cells; k++) sums[0] = sums[0] + positive(row(z, k));
        return (sums[0] + sums[1]) + (sums[2] + sums[3]);
    }

    // w = c_j / s_j; a dead source retains its water instead, and w is 0.
    R share(R s, const Real* c, int64_t j, Real* m) const {
        const R source = row(c, j), none = R::of(0);
        put(m, j, row(m, j) + where_above(s, DEAD_COLUMN, none, source));
        return where_above(s, DEAD_COLUMN, source / s, none);
    }

    // What the results ask for, a block first; any of them may be null.
    struct Wanted {
        const Real *storage, *outflow, *discharge;
    };
    // What is asked for, a block first; drivers and mass may be null.
    struct Given {
        Real *drivers, *mass, *cells;
    };

    template <class Products>
    void backward(Products& products, const Wanted& wanted, const Given& given) {
        memset(given.cells, 0, shape.blocks * shape.cell_rows() * sizeof(Real));
        for (int64_t t = shape.days - 1; t >= 0; t--) {
            for (int64_t b = 0; b < shape.blocks; b++) {
                begin_day(products, b, t);
                release_backward(products, b, t, wanted, given.cells + b * shape.cell_rows());
                input_backward(products, b, row(mass, at(b, t)), given.mass ? given.mass + at(b, t) * SAMPLES : nullptr);
            }
            for (int64_t j = 0; j < shape.cells; j++)
                for (int64_t b = 0; b < shape.blocks; b++) {
                    products.group(b, j, z());
                    put(q(b), j, source_backward(z(), m(b), row(before(b, t), j), j));
                    products.take(b, j, z());
                }
            for (int64_t b = 0; b < shape.blocks; b++) {
                const Real* du = products.d_features(b);
                cells_backward(b, du, before(b, t), given.cells + b * shape.cell_rows());
                const int64_t size = shape.drivers * SAMPLES;
                if (given.drivers) memcpy(given.drivers + at(b, t) * size, du + shape.cell_rows(), size * sizeof(Real));
            }
            products.finish_day();
        }
        products.finish();
    }

    // dm = o dh + (1 - o) dc, over m; do = (dh - dc) m. With kappa, dz also gives dz / (1 + kappa m) times kappa to dm
    // and times m to the gradient of kappa.
    template <class Products>
    void release_backward(Products& products, int64_t b, int64_t t, const Wanted& wanted, const Real* dc) const {
        const int64_t day = at(b, t) * shape.cell_rows();
        products.group(b, shape.cells + 1, z());
        for (int64_t k = 0; k < shape.cells; k++) {
            R dh = wanted.outflow ? row(wanted.outflow + day, k) : R::of(0);
            if (wanted.discharge && k) dh = dh + row(wanted.discharge, at(b, t));
            R after = row(dc, k);
            if (wanted.storage) after = after + row(wanted.storage + day, k);
            const R water = row(storage + day, k) + row(outflow + day, k), o = opened(k, row(z(), k), water);
            const R dz = (dh - after) * water * o * (R::of(1) - o);
            R dm = o * dh + (R::of(1) - o) * after;
            if (wetness) {
                const R kappa = R::of(wetness[k]), along = dz / (R::of(1) + kappa * water), part = along * water;
                auto& sum = *reinterpret_cast<typename R::Vector*>(d_wetness + k * R::LANES);
                for (const auto& v : part.v) sum = sum + v;
                dm = dm + kappa * along;
            }
            put(m(b), k, dm);
            put(z(), k, dz);
        }
        products.take(b, shape.cells + 1, z());
    }

    template <class Products>
    void input_backward(Products& products, int64_t b, R x, Real* d_x) const {
        Real* i = next();
        products.group(b, shape.cells, z());
        memcpy(i, z(), shape.cell_rows() * sizeof(Real));
        input_gate(i);
        R mean = R::of(0);
        for (int64_t k = 0; k < shape.cells; k++) mean = mean + row(m(b), k) * row(i, k);
        if (d_x) mean.store(d_x);
        for (int64_t k = 0; k < shape.cells; k++) {
            const R closed = logistic(R::of(0) - row(z(), k));
            put(z(), k, row(i, k) * (row(m(b), k) - mean) * x * closed);
        }
        products.take(b, shape.cells, z());
    }

    // Through c / (|c| + eps).
    void cells_backward(int64_t b, const Real* du, const Real* c, Real* dc) const {
        const R factor = R::of(1) / row(norm(b), 0);
        R along = R::of(0);
        for (int64_t k = 0; k < shape.cells; k++) along = along + row(du, k) * row(c, k);
        along = along * factor;
        for (int64_t k = 0; k < shape.cells; k++) put(dc, k, row(q(b), k) + (row(du, k) - along) * factor);
    }

    // Puts dZ_j over Z_j; returns q_j.
    R source_backward(Real* z, const Real* dm, R c, int64_t j) const {
        const R none = R::of(0);
        R sums[2] = {none, none}, routed[2] = {none, none};
        int64_t k = 0;
        for (; k + 1 < shape.cells; k += 2)
            for (int n = 0; n < 2; n++) {
                R A = positive(row(z, k + n));
                sums[n] = sums[n] + A;
                routed[n] = routed[n] + A * row(dm, k + n);
            }
        for (; k < shape.cells; k++) {
            R A = positive(row(z, k));
            sums[0] = sums[0] + A;
            routed[0] = routed[0] + A * row(dm, k);
        }
        R s = sums[0] + sums[1], inverse = R::of(1) / s;
        R q = where_above(s, DEAD_COLUMN, (routed[0] + routed[1]) * inverse, row(dm, j));
        R w = where_above(s, DEAD_COLUMN, c * inverse, none), less = w * q;
        for (k = 0; k < shape.cells; k++) put(z, k, where_positive(row(z, k), w * row(dm, k) - less));
        return q;
    }
};
