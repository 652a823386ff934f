// Rows of one block: the same number for each of its samples, side by side in vector lanes.
#pragma once
#include <stdint.h>

constexpr int SAMPLES = 32;     // of a block
constexpr int HALF_BLOCK = 16;  // where no more are occupied, the products of the others need not be computed

template <class Real>
struct Row {
    typedef Real Vector __attribute__((vector_size(64)));
    static constexpr int LANES = 64 / sizeof(Real), VECTORS = SAMPLES / LANES;
    Vector v[VECTORS];

    static Row of(Real x) {
        Row row;
        for (Vector& v : row.v) v = Vector{} + x;
        return row;
    }
    static Row load(const Real* p) { return *reinterpret_cast<const Row*>(p); }
    void store(Real* p) const { *reinterpret_cast<Row*>(p) = *this; }
};

#define FRESHET_EACH(expression)                                   \
    Row<Real> out;                                                 \
    for (int n = 0; n < Row<Real>::VECTORS; n++) out.v[n] = expression; \
    return out
template <class Real> inline Row<Real> operator+(Row<Real> a, Row<Real> b) { FRESHET_EACH(a.v[n] + b.v[n]); }
template <class Real> inline Row<Real> operator-(Row<Real> a, Row<Real> b) { FRESHET_EACH(a.v[n] - b.v[n]); }
template <class Real> inline Row<Real> operator*(Row<Real> a, Row<Real> b) { FRESHET_EACH(a.v[n] * b.v[n]); }
template <class Real> inline Row<Real> operator/(Row<Real> a, Row<Real> b) { FRESHET_EACH(a.v[n] / b.v[n]); }
// In these the comparison is the one that NaN fails, so that NaN stays NaN.
template <class Real> inline Row<Real> positive(Row<Real> a) { FRESHET_EACH(a.v[n] < 0 ? 0 : a.v[n]); }
template <class Real> inline Row<Real> greater(Row<Real> a, Row<Real> b) { FRESHET_EACH(a.v[n] < b.v[n] ? b.v[n] : a.v[n]); }
template <class Real> inline Row<Real> least(Row<Real> a, Row<Real> b) { FRESHET_EACH(((a.v[n] < b.v[n]) | (a.v[n] != a.v[n])) ? a.v[n] : b.v[n]); }
template <class Real> inline Row<Real> where_positive(Row<Real> test, Row<Real> a) { FRESHET_EACH(test.v[n] <= 0 ? 0 : a.v[n]); }
template <class Real> inline Row<Real> where_above(Row<Real> test, Real limit, Row<Real> a, Row<Real> b) {
    FRESHET_EACH(test.v[n] <= limit ? b.v[n] : a.v[n]);
}
template <class Real> inline Row<Real> one_minus(Row<Real> a) { FRESHET_EACH(1 - a.v[n]); }
#undef FRESHET_EACH
template <class Real> inline Row<Real> at_least(Row<Real> a, Real limit) { return greater(a, Row<Real>::of(limit)); }
template <class Real> inline Row<Real> at_most(Row<Real> a, Real limit) { return least(a, Row<Real>::of(limit)); }
template <class Real> inline Row<Real> where_above(Row<Real> test, Real limit, Row<Real> a) {
    return where_above(test, limit, a, Row<Real>::of(0));
}
template <class Real> inline Row<Real> bounded(Row<Real> a, Row<Real> most) { return least(positive(a), most); }

// exp by 2^n e^r with |r| <= ln 2 / 2 and e^r as its Taylor polynomial; what is out of range is clamped.
template <class Real> struct Exponential;
template <> struct Exponential<float> {
    typedef int32_t Integer;
    static constexpr int TERMS = 8, MANTISSA = 23, BIAS = 127, POWERS = 8;
    static constexpr float LIMIT = 87.0f, LN2_HIGH = 0.693359375f, LN2_LOW = -2.12194440e-4f, ROUND = 12582912.0f;
};
template <> struct Exponential<double> {
    typedef int64_t Integer;
    static constexpr int TERMS = 14, MANTISSA = 52, BIAS = 1023, POWERS = 17;
    static constexpr double LIMIT = 700.0, LN2_HIGH = 6.93147180369123816490e-01, LN2_LOW = 1.90821492927058770002e-10,
                            ROUND = 6755399441055744.0;
};

template <class Real>
inline Row<Real> exponential(Row<Real> x) {
    using E = Exponential<Real>;
    using Vector = typename Row<Real>::Vector;
    typedef typename E::Integer Integers __attribute__((vector_size(64)));
    Row<Real> out;
    for (int n = 0; n < Row<Real>::VECTORS; n++) {
        Vector a = x.v[n];
        a = a > E::LIMIT ? Vector{} + E::LIMIT : a;
        a = a < -E::LIMIT ? Vector{} - E::LIMIT : a;
        Vector whole = (a * Real(1.44269504088896340736) + E::ROUND) - E::ROUND;
        Vector r = (a - whole * E::LN2_HIGH) - whole * E::LN2_LOW;
        Vector sum = Vector{} + 1;
        for (int term = E::TERMS; term > 0; term--) sum = 1 + sum * r * Real(1.0 / term);
        Integers power = __builtin_convertvector(whole, Integers) << E::MANTISSA;
        out.v[n] = reinterpret_cast<Vector>(reinterpret_cast<Integers>(sum) + power);
    }
    return out;
}

// log of a normal number above 0, x = 2^n m, with log m = 2 (s + s^3 / 3 + s^5 / 5 + ...), s = (m - 1) / (m + 1) < 1 / 3.
template <class Real>
inline Row<Real> logarithm(Row<Real> x) {
    using E = Exponential<Real>;
    using Vector = typename Row<Real>::Vector;
    typedef typename E::Integer Integers __attribute__((vector_size(64)));
    const Integers one = Integers{} + (typename E::Integer(E::BIAS) << E::MANTISSA);
    const Integers fraction = Integers{} + ((typename E::Integer(1) << E::MANTISSA) - 1);
    Row<Real> out;
    for (int n = 0; n < Row<Real>::VECTORS; n++) {
        const Integers bits = reinterpret_cast<Integers>(x.v[n]);
        const Vector whole = __builtin_convertvector((bits >> E::MANTISSA) - E::BIAS, Vector);
        const Vector m = reinterpret_cast<Vector>((bits & fraction) | one), s = (m - 1) / (m + 1), square = s * s;
        Vector sum = Vector{} + Real(1.0 / (2 * E::POWERS + 1));
        for (int power = E::POWERS - 1; power >= 0; power--) sum = sum * square + Real(1.0 / (2 * power + 1));
        const Vector log = whole * E::LN2_HIGH + (whole * E::LN2_LOW + 2 * s * sum);
        out.v[n] = x.v[n] != x.v[n] ? x.v[n] : log;
    }
    return out;
}

template <class Real>
inline Row<Real> logistic(Row<Real> x) {
    Row<Real> one = Row<Real>::of(1);
    return one / (one + exponential(Row<Real>::of(0) - x));
}
