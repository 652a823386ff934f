// Days of parallel buckets, 32 samples side by side; the equations and their letters are those of bucket_scan.py.
#pragma once
#include "tape.h"

struct BucketsCall {
    int64_t days, components, samples, delays, tags;                  // samples: of a row, a multiple of 32
    const void *drivers, *constants, *routing, *before;               // (T, 13, N, B), (4, N, B), (D, P, B), (K, B)
    void *storage, *discharge, *evapotranspiration, *leak, *inflow;   // (T, K, B), three (T, B), (T, P, B)
    const void *d_storage, *d_discharge, *d_evapotranspiration, *d_leak;  // null where nothing asks
    void *d_drivers, *d_constants, *d_routing, *d_before;             // the last three are added to
    const int64_t* tag;                                               // (T); null without tags, as are the next
    void *tagged, *tag_discharge, *tag_loss;                          // (K, G, B); (T, G, B)
};

namespace {

enum { SNOWFALL, RAIN, MELT, FREEZE, DEMAND, DRYING, SHAPE, EXCESS, PERCOLATION, K0, K1, K2, LOST, DRIVERS };
enum { RELEASE, CAPACITY, THRESHOLD, DRAIN, CONSTANTS };
enum { ICE, LIQUID, SOIL, UPPER, LOWER, STORES };
constexpr int PATHS = 2;            // to the gauge: over the ground, and in it
constexpr int MAX_COMPONENTS = 64;  // jobspec/network.py allows no more

// A component's day over rows, or over numbers that remember for their gradients: what it is given, and what follows.
template <class Real, class X>
struct BucketDay {
    static constexpr Real TINY = Real(1e-6);
    X given[DRIVERS], fixed[CONSTANTS], before[STORES], after[STORES];
    X I1, m, L1, f, L2, w, x, b, enters, S1, r, d, S2, e, U1, p, U2, q0, U3, q1, G1, y, leak, flow[PATHS];

    void run() {
        const X n = given[SHAPE], C = fixed[CAPACITY], S0 = before[SOIL];
        I1 = before[ICE] + given[SNOWFALL];
        m = least(I1, given[MELT]);
        L1 = before[LIQUID] + m;
        f = least(L1, given[FREEZE]);
        L2 = L1 - f;
        w = fixed[RELEASE] * L2;
        x = w + given[RAIN];
        b = x * (x / (x + given[EXCESS]));
        enters = x - b;
        const X u1 = exponential(logarithm(at_least(one_minus(S0 / C), TINY)) / n) - enters / (n * C);
        const X left = where_above(u1, TINY, exponential(n * logarithm(at_least(u1, TINY))));
        const X gain = bounded(C * one_minus(left) - S0, enters);
        S1 = S0 + gain;
        r = enters - gain;
        const X wet = at_most(S1 / C, Real(1));
        d = fixed[DRAIN] * S1 * wet * wet;
        S2 = S1 - d;
        e = least(given[DEMAND], given[DRYING] * S2);
        U1 = before[UPPER] + (r + d);
        p = least(U1, given[PERCOLATION]);
        U2 = U1 - p;
        q0 = given[K0] * (U2 * (U2 / (U2 + fixed[THRESHOLD])));
        U3 = U2 - q0;
        q1 = given[K1] * U3;
        G1 = before[LOWER] + p;
        y = given[K2] * G1;
        leak = given[LOST] * y;
        flow[0] = b + q0;
        flow[1] = q1 + (y - leak);
        after[ICE] = (I1 - m) + f;
        after[LIQUID] = L2 - w;
        after[SOIL] = S2 - e;
        after[UPPER] = U3 - q1;
        after[LOWER] = G1 - y;
    }
};

template <class Real>
struct Buckets {
    using R = Row<Real>;

    const BucketsCall& call;
    const int64_t N, B, D, K;  // D: delays, of whose cells there is one fewer
    explicit Buckets(const BucketsCall& c)
        : call(c), N(c.components), B(c.samples), D(c.delays), K(D - 1 + STORES * c.components) {}

    static R row(const void* p, int64_t at) { return R::load(static_cast<const Real*>(p) + at); }
    static void put(void* p, int64_t at, R value) { value.store(static_cast<Real*>(p) + at); }
    static void add(void* p, int64_t at, R value) { put(p, at, row(p, at) + value); }
    static R asked(const void* p, int64_t at) { return p ? row(p, at) : R::of(0); }
    int64_t driver(int64_t t, int which, int64_t j) const { return ((t * DRIVERS + which) * N + j) * B; }
    int64_t cell(int store, int64_t j) const { return (D - 1 + store * N + j) * B; }
    R weight(int64_t i, int64_t j, int64_t s) const { return row(call.routing, (i * PATHS * N + j) * B + s); }
    const Real* before(int64_t t) const {
        return t ? static_cast<const Real*>(call.storage) + (t - 1) * K * B : static_cast<const Real*>(call.before);
    }

    template <class X, class Make>
    void read(BucketDay<Real, X>& day, int64_t t, int64_t j, int64_t s, Make make) const {
        for (int which = 0; which < DRIVERS; which++) day.given[which] = make(row(call.drivers, driver(t, which, j) + s));
        for (int which = 0; which < CONSTANTS; which++)
            day.fixed[which] = make(row(call.constants, (which * N + j) * B + s));
        for (int store = 0; store < STORES; store++) day.before[store] = make(row(before(t), cell(store, j) + s));
        day.run();
    }

    void run(bool backward) const {
        Tape<Real> tape;
        for (int64_t s = 0; s < B; s += SAMPLES)
            if (backward)
                for (int64_t t = call.days - 1; t >= 0; t--) back(tape, t, s);
            else
                for (int64_t t = 0; t < call.days; t++) forth(t, s);
    }

    void forth(int64_t t, int64_t s) const {
        Real* after = static_cast<Real*>(call.storage) + t * K * B;
        for (int64_t g = 0; g < call.tags; g++) flow_on(t, g, s);
        R discharge = row(before(t), s), evapotranspiration = R::of(0), leak = evapotranspiration;
        for (int64_t i = 0; i < D - 1; i++) put(after, i * B + s, i < D - 2 ? row(before(t), (i + 1) * B + s) : R::of(0));
        for (int64_t j = 0; j < N; j++) {
            BucketDay<Real, R> day;
            read(day, t, j, s, [](R x) { return x; });
            for (int store = 0; store < STORES; store++) put(after, cell(store, j) + s, day.after[store]);
            for (int path = 0; path < PATHS; path++) {
                const int64_t at = PATHS * j + path;
                put(call.inflow, (t * PATHS * N + at) * B + s, day.flow[path]);
                discharge = discharge + weight(0, at, s) * day.flow[path];
                for (int64_t i = 0; i < D - 1; i++) add(after, i * B + s, weight(i + 1, at, s) * day.flow[path]);
            }
            evapotranspiration = evapotranspiration + day.e;
            leak = leak + day.leak;
            for (int64_t g = 0; g < call.tags; g++) route(day, t, j, g, s);
        }
        put(call.discharge, t * B + s, discharge);
        put(call.evapotranspiration, t * B + s, evapotranspiration);
        put(call.leak, t * B + s, leak);
        for (int64_t k = 0; k < K && call.tags; k++) add_up(k * B, row(after, k * B + s), s);
    }

    // Where the water of a tag in a cell is.
    int64_t tagged(int64_t cell, int64_t g, int64_t s) const { return cell * call.tags + g * B + s; }

    static R share(R part, R whole) { return where_above(whole, Real(0), part / whole, R::of(0)); }

    // Moves the water of a tag that is on its way a day on.
    void flow_on(int64_t t, int64_t g, int64_t s) const {
        const int64_t left = (t * call.tags + g) * B + s;
        put(call.tag_discharge, left, row(call.tagged, tagged(0, g, s)));
        put(call.tag_loss, left, R::of(0));
        for (int64_t i = 0; i < D - 1; i++)
            put(call.tagged, tagged(i * B, g, s), i < D - 2 ? row(call.tagged, tagged((i + 1) * B, g, s)) : R::of(0));
    }

    // Moves the water of a tag through a component, and its flow to the gauge or on its way.
    void route(const BucketDay<Real, R>& d, int64_t t, int64_t j, int64_t g, int64_t s) const {
        R water[STORES];
        for (int store = 0; store < STORES; store++) water[store] = row(call.tagged, tagged(cell(store, j), g, s));
        const bool falls = call.tag[t] == g;
        auto move = [](R& from, R share) {
            const R moved = share * from;
            from = from - moved;
            return moved;
        };
        if (falls) water[ICE] = water[ICE] + d.given[SNOWFALL];
        water[LIQUID] = water[LIQUID] + move(water[ICE], share(d.m, d.I1));
        water[ICE] = water[ICE] + move(water[LIQUID], share(d.f, d.L1));
        R ground = move(water[LIQUID], share(d.w, d.L2));
        if (falls) ground = ground + d.given[RAIN];
        const R b = move(ground, share(d.b, d.x));
        water[SOIL] = water[SOIL] + ground;
        const R r = move(water[SOIL], share(d.r, d.before[SOIL] + d.enters)), drained = move(water[SOIL], share(d.d, d.S1));
        const R e = move(water[SOIL], share(d.e, d.S2));
        water[UPPER] = water[UPPER] + (r + drained);
        water[LOWER] = water[LOWER] + move(water[UPPER], share(d.p, d.U1));
        const R q0 = move(water[UPPER], share(d.q0, d.U2)), q1 = move(water[UPPER], share(d.q1, d.U3));
        R y = move(water[LOWER], share(d.y, d.G1));
        const R leak = move(y, d.given[LOST]);
        const int64_t left = (t * call.tags + g) * B + s;
        add(call.tag_loss, left, e + leak);
        const R flow[PATHS] = {b + q0, q1 + y};
        for (int path = 0; path < PATHS; path++) {
            const int64_t at = PATHS * j + path;
            add(call.tag_discharge, left, weight(0, at, s) * flow[path]);
            for (int64_t i = 0; i < D - 1; i++) add(call.tagged, tagged(i * B, g, s), weight(i + 1, at, s) * flow[path]);
        }
        for (int store = 0; store < STORES; store++) put(call.tagged, tagged(cell(store, j), g, s), water[store]);
    }

    // Takes from the tags of a cell what rounding added to them, and gives them what it took.
    void add_up(int64_t cell, R water, int64_t s) const {
        R total = R::of(0);
        for (int64_t g = 0; g < call.tags; g++) total = total + row(call.tagged, tagged(cell, g, s));
        const R factor = share(water, total);
        for (int64_t g = 0; g < call.tags; g++)
            put(call.tagged, tagged(cell, g, s), row(call.tagged, tagged(cell, g, s)) * factor);
    }

    // d_before holds the gradients of the stores after the day, and then those before it.
    void back(Tape<Real>& tape, int64_t t, int64_t s) const {
        if (call.d_storage)
            for (int64_t k = 0; k < K; k++) add(call.d_before, k * B + s, row(call.d_storage, (t * K + k) * B + s));
        const R g_discharge = asked(call.d_discharge, t * B + s);
        R g_flow[PATHS * MAX_COMPONENTS];
        for (int64_t at = 0; at < PATHS * N; at++) {
            const R flow = row(call.inflow, (t * PATHS * N + at) * B + s);
            g_flow[at] = weight(0, at, s) * g_discharge;
            add(call.d_routing, at * B + s, flow * g_discharge);
            for (int64_t i = 0; i < D - 1; i++) {
                const R g = row(call.d_before, i * B + s);
                g_flow[at] = g_flow[at] + weight(i + 1, at, s) * g;
                add(call.d_routing, ((i + 1) * PATHS * N + at) * B + s, flow * g);
            }
        }
        for (int64_t i = D - 2; i > 0; i--) put(call.d_before, i * B + s, row(call.d_before, (i - 1) * B + s));
        put(call.d_before, s, g_discharge);
        const R g_e = asked(call.d_evapotranspiration, t * B + s), g_leak = asked(call.d_leak, t * B + s);
        for (int64_t j = 0; j < N; j++) {
            BucketDay<Real, Number<Real>> day;
            tape.count = 0;
            read(day, t, j, s, [&](R x) { return Number<Real>{&tape, tape.add(x, -1, x, -1, x)}; });
            for (int path = 0; path < PATHS; path++) day.flow[path].gradient() = g_flow[PATHS * j + path];
            day.e.gradient() = day.e.gradient() + g_e;
            day.leak.gradient() = day.leak.gradient() + g_leak;
            for (int store = 0; store < STORES; store++) {
                R& g = day.after[store].gradient();
                g = g + row(call.d_before, cell(store, j) + s);
            }
            tape.back();
            for (int which = 0; which < DRIVERS; which++)
                put(call.d_drivers, driver(t, which, j) + s, day.given[which].gradient());
            for (int which = 0; which < CONSTANTS; which++)
                add(call.d_constants, (which * N + j) * B + s, day.fixed[which].gradient());
            for (int store = 0; store < STORES; store++)
                put(call.d_before, cell(store, j) + s, day.before[store].gradient());
        }
    }
};

}  // namespace
