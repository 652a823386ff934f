// Days of parallel buckets, 32 samples side by side; the equations and their letters are those of bucket_scan.py.
#pragma once
#include "rows.h"

struct BucketsCall {
    int64_t days, components, samples, tags;                          // samples: of a row, a multiple of 32
    const void *drivers, *constants, *routing, *before;               // (T, 11, N, B), (4, N, B), (B), (K, B)
    void *storage, *discharge, *evapotranspiration, *leak;            // (T, K, B), then (T, B)
    const void *d_storage, *d_discharge, *d_evapotranspiration, *d_leak;  // null where nothing asks
    void *d_drivers, *d_constants, *d_routing, *d_before;             // the last three are added to
    const int64_t* tag;                                               // (T); null without tags, as are the next
    void *tagged, *tag_discharge, *tag_loss;                          // (K, G, B); (T, G, B)
};

namespace {

// A component's day: what it is given, and all that follows from it.
template <class Real>
struct BucketDay {
    using R = Row<Real>;
    static constexpr Real TINY = Real(1e-6);
    R snowfall, rain, melt, freeze, demand, drying, n, percolation, k0, k1, k2;
    R held, capacity, threshold, lost;
    R I0, L0, S0, U0, G0;
    R I1, m, L1, f, I3, L2, wet, x;
    R log_u0, log_u1, u1, steep, gain, S1, r, e;  // steep: u1^(n - 1)
    R U1, p, U2, over, q0, q1, q, G1, y, leak;

    void run() {
        const R one = R::of(1);
        I1 = I0 + snowfall;
        m = least(I1, melt);
        L1 = L0 + (m + rain);
        f = least(L1, freeze);
        I3 = (I1 - m) + f;
        L2 = L1 - f;
        wet = L2 - held * I3;
        x = positive(wet);
        log_u0 = logarithm(greater(one - S0 / capacity, R::of(TINY))) / n;
        u1 = exponential(log_u0) - x / (n * capacity);
        log_u1 = logarithm(greater(u1, R::of(TINY)));
        steep = where_above(u1, TINY, exponential((n - one) * log_u1), R::of(0));
        gain = least(positive(capacity * (one - steep * u1) - S0), x);
        S1 = S0 + gain;
        r = x - gain;
        e = least(demand, drying * S1);
        U1 = U0 + r;
        p = least(U1, percolation);
        U2 = U1 - p;
        over = positive(U2 - threshold);
        q0 = k0 * over;
        q1 = k1 * (U2 - q0);
        q = q0 + q1;
        G1 = G0 + p;
        y = k2 * G1;
        leak = lost * y;
    }
};

template <class Real>
struct Buckets {
    using R = Row<Real>;
    using Day = BucketDay<Real>;
    enum { SNOWFALL, RAIN, MELT, FREEZE, DEMAND, DRYING, SHAPE, PERCOLATION, K0, K1, K2, DRIVERS };
    enum { HELD, CAPACITY, THRESHOLD, LOST, CONSTANTS };
    enum { ICE, LIQUID, SOIL, UPPER, LOWER, STORES };
    static constexpr int ROUTING = 2;

    const BucketsCall& call;
    const int64_t N, B, K;
    explicit Buckets(const BucketsCall& c) : call(c), N(c.components), B(c.samples), K(ROUTING + STORES * c.components) {}

    static R row(const void* p, int64_t at) { return R::load(static_cast<const Real*>(p) + at); }
    static void put(void* p, int64_t at, R value) { value.store(static_cast<Real*>(p) + at); }
    static void add(void* p, int64_t at, R value) { put(p, at, row(p, at) + value); }
    static R asked(const void* p, int64_t at) { return p ? row(p, at) : R::of(0); }
    int64_t driver(int64_t t, int which, int64_t j) const { return ((t * DRIVERS + which) * N + j) * B; }
    int64_t cell(int store, int64_t j) const { return (ROUTING + store * N + j) * B; }
    const Real* before(int64_t t) const {
        return t ? static_cast<const Real*>(call.storage) + (t - 1) * K * B : static_cast<const Real*>(call.before);
    }

    Day day(int64_t t, int64_t j, int64_t s) const {
        Day d;
        R* given[DRIVERS] = {&d.snowfall, &d.rain, &d.melt, &d.freeze, &d.demand, &d.drying,
                             &d.n,        &d.percolation, &d.k0, &d.k1, &d.k2};
        for (int which = 0; which < DRIVERS; which++) *given[which] = row(call.drivers, driver(t, which, j) + s);
        R* fixed[CONSTANTS] = {&d.held, &d.capacity, &d.threshold, &d.lost};
        for (int which = 0; which < CONSTANTS; which++) *fixed[which] = row(call.constants, (which * N + j) * B + s);
        R* stores[STORES] = {&d.I0, &d.L0, &d.S0, &d.U0, &d.G0};
        for (int store = 0; store < STORES; store++) *stores[store] = row(before(t), cell(store, j) + s);
        d.run();
        return d;
    }

    void run(bool backward) const {
        for (int64_t s = 0; s < B; s += SAMPLES)
            if (backward)
                for (int64_t t = call.days - 1; t >= 0; t--) back(t, s);
            else
                for (int64_t t = 0; t < call.days; t++) forth(t, s);
    }

    void forth(int64_t t, int64_t s) const {
        Real* after = static_cast<Real*>(call.storage) + t * K * B;
        R flow = R::of(0), evapotranspiration = flow, leak = flow;
        for (int64_t g = 0; g < call.tags; g++) {
            put(call.tag_discharge, (t * call.tags + g) * B + s, R::of(0));
            put(call.tag_loss, (t * call.tags + g) * B + s, R::of(0));
        }
        for (int64_t j = 0; j < N; j++) {
            const Day d = day(t, j, s);
            put(after, cell(ICE, j) + s, d.I3);
            put(after, cell(LIQUID, j) + s, d.L2 - d.x);
            put(after, cell(SOIL, j) + s, d.S1 - d.e);
            put(after, cell(UPPER, j) + s, (d.U2 - d.q0) - d.q1);
            put(after, cell(LOWER, j) + s, d.G1 - d.y);
            flow = flow + (d.q + (d.y - d.leak));
            evapotranspiration = evapotranspiration + d.e;
            leak = leak + d.leak;
            for (int64_t g = 0; g < call.tags; g++) route(d, t, j, g, s);
        }
        const R kr = row(call.routing, s);
        const R R1 = row(before(t), s) + flow, o = kr * R1, R2 = row(before(t), B + s) + o, discharge = kr * R2;
        put(after, s, R1 - o);
        put(after, B + s, R2 - discharge);
        put(call.discharge, t * B + s, discharge);
        put(call.evapotranspiration, t * B + s, evapotranspiration);
        put(call.leak, t * B + s, leak);
        for (int64_t g = 0; g < call.tags; g++) {
            const int64_t left = (t * call.tags + g) * B + s;
            R first = row(call.tagged, tagged(0, g, s)) + row(call.tag_discharge, left), out = kr * first;
            put(call.tagged, tagged(0, g, s), first - out);
            R second = row(call.tagged, tagged(B, g, s)) + out;
            put(call.tag_discharge, left, kr * second);
            put(call.tagged, tagged(B, g, s), second - kr * second);
        }
        for (int64_t k = 0; k < K && call.tags; k++) add_up(k * B, row(after, k * B + s), s);
    }

    // Where the water of a tag in a cell is.
    int64_t tagged(int64_t cell, int64_t g, int64_t s) const { return cell * call.tags + g * B + s; }

    static R share(R part, R whole) { return where_above(whole, Real(0), part / whole, R::of(0)); }

    // Moves the water of a tag through a component; its flow is added to the tag's discharge, to be routed.
    void route(const Day& d, int64_t t, int64_t j, int64_t g, int64_t s) const {
        R water[STORES];
        for (int store = 0; store < STORES; store++) water[store] = row(call.tagged, tagged(cell(store, j), g, s));
        const bool falls = call.tag[t] == g;
        auto move = [](R& from, R share) {
            const R moved = share * from;
            from = from - moved;
            return moved;
        };
        if (falls) water[ICE] = water[ICE] + d.snowfall;
        const R m = move(water[ICE], share(d.m, d.I1));
        water[LIQUID] = water[LIQUID] + m;
        if (falls) water[LIQUID] = water[LIQUID] + d.rain;
        water[ICE] = water[ICE] + move(water[LIQUID], share(d.f, d.L1));
        water[SOIL] = water[SOIL] + move(water[LIQUID], share(d.x, d.L2));
        const R r = move(water[SOIL], share(d.r, d.S0 + d.x)), e = move(water[SOIL], share(d.e, d.S1));
        water[UPPER] = water[UPPER] + r;
        water[LOWER] = water[LOWER] + move(water[UPPER], share(d.p, d.U1));
        const R q = move(water[UPPER], share(d.q, d.U2)), y = move(water[LOWER], share(d.y, d.G1)), leak = d.lost * y;
        const int64_t left = (t * call.tags + g) * B + s;
        add(call.tag_discharge, left, q + (y - leak));
        add(call.tag_loss, left, e + leak);
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

    // g..: the gradient of what follows it; d_before holds that of the stores after the day, and then before it.
    void back(int64_t t, int64_t s) const {
        const Real* after = static_cast<const Real*>(call.storage) + t * K * B;
        if (call.d_storage)
            for (int64_t k = 0; k < K; k++) add(call.d_before, k * B + s, row(call.d_storage, (t * K + k) * B + s));
        const R kr = row(call.routing, s), g_discharge = asked(call.d_discharge, t * B + s);
        const R R2 = row(after, B + s) + row(call.discharge, t * B + s), o = R2 - row(before(t), B + s), R1 = row(after, s) + o;
        const R g_second = row(call.d_before, B + s), g_first = row(call.d_before, s);
        const R g_R2 = g_second + kr * (g_discharge - g_second), g_o = g_R2 - g_first, g_flow = g_first + kr * g_o;
        add(call.d_routing, s, R2 * (g_discharge - g_second) + R1 * g_o);
        put(call.d_before, B + s, g_R2);
        put(call.d_before, s, g_flow);
        const R g_e = asked(call.d_evapotranspiration, t * B + s), g_leak = asked(call.d_leak, t * B + s);
        for (int64_t j = 0; j < N; j++) back(day(t, j, s), t, j, s, g_flow, g_e, g_leak);
    }

    void back(const Day& d, int64_t t, int64_t j, int64_t s, R g_flow, R g_evapotranspiration, R g_leak) const {
        const R none = R::of(0), one = R::of(1);
        auto give = [&](int which, R value) { put(call.d_drivers, driver(t, which, j) + s, value); };
        auto give_fixed = [&](int which, R value) { add(call.d_constants, (which * N + j) * B + s, value); };
        auto store = [&](int which) { return cell(which, j) + s; };
        auto where = [&](R a, R b, R value) { return where_positive(b - a, value); };  // a < b

        const R g_G2 = row(call.d_before, store(LOWER));
        const R g_y = (one - d.lost) * g_flow + d.lost * g_leak - g_G2, g_G1 = g_G2 + d.k2 * g_y;
        give(K2, d.G1 * g_y);
        give_fixed(LOST, d.y * (g_leak - g_flow));
        put(call.d_before, store(LOWER), g_G1);

        const R g_U3 = row(call.d_before, store(UPPER)), g_q1 = g_flow - g_U3, g_rest = g_U3 + d.k1 * g_q1;
        const R g_q0 = g_flow - g_rest, g_over = where_positive(d.over, d.k0 * g_q0);
        const R g_U2 = g_rest + g_over, g_p = g_G1 - g_U2;
        const R g_U1 = g_U2 + where(d.U1, d.percolation, g_p);
        give(K0, d.over * g_q0);
        give(K1, (d.U2 - d.q0) * g_q1);
        give_fixed(THRESHOLD, none - g_over);
        give(PERCOLATION, g_p - where(d.U1, d.percolation, g_p));
        put(call.d_before, store(UPPER), g_U1);

        // The recharge x - (S1 - S0) has the gradient g_U1.
        const R g_S2 = row(call.d_before, store(SOIL)), g_et = g_evapotranspiration - g_S2;
        const R of_demand = where(d.demand, d.drying * d.S1, g_et), of_soil = g_et - of_demand;
        const R g_S1 = g_S2 + d.drying * of_soil - g_U1;
        give(DEMAND, of_demand);
        give(DRYING, d.S1 * of_soil);
        const R u0 = exponential(d.log_u0), kept = d.steep / exponential((d.n - one) * d.log_u0);
        const R part = d.steep * d.x / d.capacity;
        give(SHAPE, g_S1 * d.capacity * (d.steep * (u0 * d.log_u0 - d.u1 * d.log_u1) - part / d.n));
        give_fixed(CAPACITY, g_S1 * (one - d.steep * d.u1 - part - kept * d.S0 / d.capacity));
        put(call.d_before, store(SOIL), g_U1 + g_S1 * kept);
        const R g_x = g_U1 + g_S1 * d.steep;

        const R g_L3 = row(call.d_before, store(LIQUID)), g_wet = where_positive(d.wet, g_x - g_L3);
        const R g_L2 = g_L3 + g_wet, g_I3 = row(call.d_before, store(ICE)) - d.held * g_wet, g_f = g_I3 - g_L2;
        const R g_L1 = g_L2 + where(d.L1, d.freeze, g_f), g_m = g_L1 - g_I3, g_I1 = g_I3 + where(d.I1, d.melt, g_m);
        give_fixed(HELD, none - d.I3 * g_wet);
        give(FREEZE, g_f - where(d.L1, d.freeze, g_f));
        give(MELT, g_m - where(d.I1, d.melt, g_m));
        give(RAIN, g_L1);
        give(SNOWFALL, g_I1);
        put(call.d_before, store(LIQUID), g_L1);
        put(call.d_before, store(ICE), g_I1);
    }
};

}  // namespace
