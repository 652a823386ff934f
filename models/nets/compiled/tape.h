// Reverse differentiation of equations over rows: every number remembers the two it was computed from, and their share.
#pragma once
#include "rows.h"

template <class Real>
struct Tape {
    using R = Row<Real>;
    static constexpr int LIMIT = 192;
    int count = 0, first[LIMIT], second[LIMIT];
    R value[LIMIT], by_first[LIMIT], by_second[LIMIT], gradient[LIMIT];

    int add(R x, int a, R by_a, int b, R by_b) {
        value[count] = x;
        first[count] = a, second[count] = b;
        by_first[count] = by_a, by_second[count] = by_b;
        gradient[count] = R::of(0);
        return count++;
    }
    // Takes the gradients of all numbers back to those they were computed from. A number computed from none has first < 0.
    void back() {
        for (int n = count - 1; n >= 0; n--) {
            if (first[n] < 0) continue;
            gradient[first[n]] = gradient[first[n]] + by_first[n] * gradient[n];
            if (second[n] >= 0) gradient[second[n]] = gradient[second[n]] + by_second[n] * gradient[n];
        }
    }
};

template <class Real>
struct Number {
    using R = Row<Real>;
    Tape<Real>* tape;
    int at;

    R value() const { return tape->value[at]; }
    R& gradient() const { return tape->gradient[at]; }
    Number derived(R x, R by) const { return {tape, tape->add(x, at, by, -1, by)}; }
    Number derived(R x, R by, Number other, R by_other) const { return {tape, tape->add(x, at, by, other.at, by_other)}; }
};

#define FRESHET_NUMBER template <class Real> inline Number<Real>
FRESHET_NUMBER operator+(Number<Real> a, Number<Real> b) {
    const auto one = Row<Real>::of(1);
    return a.derived(a.value() + b.value(), one, b, one);
}
FRESHET_NUMBER operator-(Number<Real> a, Number<Real> b) {
    const auto one = Row<Real>::of(1);
    return a.derived(a.value() - b.value(), one, b, Row<Real>::of(-1));
}
FRESHET_NUMBER operator*(Number<Real> a, Number<Real> b) { return a.derived(a.value() * b.value(), b.value(), b, a.value()); }
FRESHET_NUMBER operator/(Number<Real> a, Number<Real> b) {
    const auto ratio = a.value() / b.value();
    return a.derived(ratio, Row<Real>::of(1) / b.value(), b, Row<Real>::of(0) - ratio / b.value());
}
FRESHET_NUMBER one_minus(Number<Real> a) { return a.derived(one_minus(a.value()), Row<Real>::of(-1)); }
FRESHET_NUMBER positive(Number<Real> a) { return a.derived(positive(a.value()), where_positive(a.value(), Row<Real>::of(1))); }
FRESHET_NUMBER at_least(Number<Real> a, Real limit) { return a.derived(at_least(a.value(), limit), where_above(a.value(), limit, Row<Real>::of(1))); }
FRESHET_NUMBER at_most(Number<Real> a, Real limit) {
    const auto none = Row<Real>::of(0), one = Row<Real>::of(1);
    return a.derived(at_most(a.value(), limit), where_above(a.value(), limit, none, one));
}
FRESHET_NUMBER least(Number<Real> a, Number<Real> b) {
    const auto first = where_positive(b.value() - a.value(), Row<Real>::of(1));  // a < b
    return a.derived(least(a.value(), b.value()), first, b, one_minus(first));
}
FRESHET_NUMBER exponential(Number<Real> a) {
    const auto x = exponential(a.value());
    return a.derived(x, x);
}
FRESHET_NUMBER logarithm(Number<Real> a) { return a.derived(logarithm(a.value()), Row<Real>::of(1) / a.value()); }
FRESHET_NUMBER where_above(Number<Real> test, Real limit, Number<Real> a) {
    const auto none = Row<Real>::of(0);
    return a.derived(where_above(test.value(), limit, a.value(), none), where_above(test.value(), limit, Row<Real>::of(1), none));
}
// A number that rounding alone could take out of 0 to `most`; it has the gradient of the number itself.
FRESHET_NUMBER bounded(Number<Real> a, Number<Real> most) {
    return a.derived(least(positive(a.value()), most.value()), Row<Real>::of(1));
}
#undef FRESHET_NUMBER
