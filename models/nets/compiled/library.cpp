// What Python calls: days of buckets, or of MC-LSTM a team of blocks of 32 samples, forward or backward, in one of three precisions.
#include <stdlib.h>

#include "buckets.h"
#include "dots.h"
#include "factorised.h"
#include "tiles.h"

struct Call {
    Shape shape;
    const void *weight, *weight_tiles;  // (rows, F), and null; half: (rows, deep), and its transpose in tiles
    const void *factor, *factor_bias;   // U and b of a factorised R
    const void* wetness;                // (K), null where a cell's water does not open its own output gate
    const void *fixed, *drivers, *mass, *cells;
    void *storage, *outflow, *discharge;
    const void *d_storage, *d_outflow, *d_discharge;          // null where nothing asks
    void *d_weight, *d_factor, *d_factor_bias, *d_wetness;
    void *d_fixed, *d_drivers, *d_mass, *d_cells;  // d_drivers and d_mass may be null
    const void* tag_mass;                          // null where water has no tags, as are the next
    void *tag_cells, *tag_discharge, *tag_loss;
};

namespace {

constexpr size_t LINE = 64;

struct Memory {
    char* begin;
    size_t used = 0;
    explicit Memory(size_t bytes) : begin(static_cast<char*>(aligned_alloc(LINE, (bytes + LINE - 1) / LINE * LINE))) {
        if (begin) memset(begin, 0, bytes);
    }
    ~Memory() { free(begin); }
    Memory(const Memory&) = delete;
    template <class T> T* take(size_t count) {
        T* p = reinterpret_cast<T*>(begin + used);
        used += (count * sizeof(T) + LINE - 1) / LINE * LINE;
        return p;
    }
};

template <class Real>
Real* of(const void* p) { return const_cast<Real*>(static_cast<const Real*>(p)); }

template <class Real, class Products>
void run(const Call& call, Products& products, Real* scratch, bool backward) {
    Scan<Real> scan{call.shape,           of<Real>(call.drivers), of<Real>(call.mass), of<Real>(call.cells),
                    of<Real>(call.storage), of<Real>(call.outflow), of<Real>(call.wetness), of<Real>(call.d_wetness),
                    {of<Real>(call.tag_mass), of<Real>(call.tag_cells), of<Real>(call.tag_discharge), of<Real>(call.tag_loss)},
                    scratch};
    if (backward)
        scan.backward(products, {of<Real>(call.d_storage), of<Real>(call.d_outflow), of<Real>(call.d_discharge)},
                      {of<Real>(call.d_drivers), of<Real>(call.d_mass), of<Real>(call.d_cells)});
    else
        scan.forward(products, of<Real>(call.discharge));
}

template <class Real>
int plain(const Call& call, bool backward) {
    const Shape& shape = call.shape;
    const int64_t scratch = Scan<Real>::scratch_rows(shape) * SAMPLES, across = shape.blocks * shape.wide() * SAMPLES,
                  back = shape.blocks * shape.features() * SAMPLES,
                  mixtures = FactorisedProducts<Real>::buffer_rows(shape) * SAMPLES;
    Memory memory((scratch + across + back + mixtures) * sizeof(Real) + 4 * LINE);
    if (!memory.begin) return 1;
    PlainProducts<Real> products{shape,
                                 call.d_drivers ? shape.features() : shape.cells,
                                 of<Real>(call.weight),
                                 of<Real>(call.fixed),
                                 backward ? of<Real>(call.d_weight) : nullptr,
                                 of<Real>(call.d_fixed),
                                 memory.take<Real>(across),
                                 memory.take<Real>(back)};
    if (shape.rank) {
        FactorisedProducts<Real> factorised{products,
                                            of<Real>(call.factor),
                                            of<Real>(call.factor_bias),
                                            backward ? of<Real>(call.d_factor) : nullptr,
                                            of<Real>(call.d_factor_bias),
                                            memory.take<Real>(mixtures)};
        run(call, factorised, memory.take<Real>(scratch), backward);
    } else {
        run(call, products, memory.take<Real>(scratch), backward);
    }
    return 0;
}

#ifdef FRESHET_HALVES
template <class Unit>
int half(const Call& call, bool backward) {
    HalfProducts<Unit> products{};
    const Shape& shape = products.shape = call.shape;
    const int64_t scratch = Scan<float>::scratch_rows(shape) * SAMPLES, down = shape.blocks * products.deep() * SAMPLES,
                  back = shape.blocks * products.deep() * SAMPLES, across = products.SLOTS * products.deep() * SAMPLES,
                  dz_down = shape.padded * SAMPLES, dz_rows = backward ? products.SLOTS * shape.rows() * SAMPLES : 0;
    Memory memory((scratch + back) * sizeof(float) + (down + across + dz_down + dz_rows) * sizeof(Half) +
                  6 * LINE);
    if (!memory.begin) return 1;
    products.weight = of<Half>(call.weight);
    products.weight_T = of<Half>(call.weight_tiles);
    products.fixed = of<float>(call.fixed);
    products.wanted = call.d_drivers ? shape.features() : shape.cells;
    products.d_weight = backward ? of<float>(call.d_weight) : nullptr;
    products.d_fixed = of<float>(call.d_fixed);
    products.down = memory.take<Half>(down);
    products.across = memory.take<Half>(across);
    products.dz_down = memory.take<Half>(dz_down);
    products.back = memory.take<float>(back);
    products.dz_rows = memory.take<Half>(dz_rows);
    Unit::begin();
    run(call, products, memory.take<float>(scratch), backward);
    Unit::end();
    return 0;
}
#endif

}  // namespace

extern "C" {

// Python hands over a `Call` of as many bytes, or is of another version.
int freshet_call_bytes() { return sizeof(Call); }
int freshet_buckets_call_bytes() { return sizeof(BucketsCall); }
// The fingerprint of the sources, by which Python finds a library of others.
int64_t freshet_sources() { return FRESHET_SOURCES; }

// How this processor multiplies bfloat16: 2 by its matrix unit, 1 by its vector unit, 0 not at all.
int freshet_half_unit() {
#ifdef FRESHET_TILES
    if (TileUnit::allowed()) return 2;  // no static: its guard is in a library that is not linked
#endif
#ifdef FRESHET_HALVES
    return 1;
#else
    return 0;
#endif
}

// Each returns 0, or 1 where memory is short. Half is asked for only where `freshet_half_unit` names a unit.
int freshet_double(const Call* call, int backward) { return plain<double>(*call, backward); }
int freshet_float(const Call* call, int backward) { return plain<float>(*call, backward); }
int freshet_half(const Call* call, int backward) {
#ifdef FRESHET_TILES
    if (freshet_half_unit() == 2) return half<TileUnit>(*call, backward);
#endif
#ifdef FRESHET_HALVES
    return half<DotUnit>(*call, backward);
#else
    return 1;
#endif
}

void freshet_buckets_double(const BucketsCall* call, int backward) { Buckets<double>(*call).run(backward); }
void freshet_buckets_float(const BucketsCall* call, int backward) { Buckets<float>(*call).run(backward); }
}
