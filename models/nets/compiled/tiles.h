// Blocks multiplied by the matrix unit of the processor (AMX).
#pragma once
#include "halves.h"
#if defined(FRESHET_HALVES) && defined(__AMX_BF16__) && defined(__linux__)
#define FRESHET_TILES 1
#include <sys/syscall.h>
#include <unistd.h>

struct TileUnit {
    // Whether the system lets this process use the unit; asks for it.
    static bool allowed() {
        constexpr int REQUEST_PERMISSION = 0x1023, TILE_DATA = 18;
        return syscall(SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA) == 0;
    }

    static void begin() {
        struct alignas(64) {
            uint8_t palette = 1, start = 0, reserved[14] = {};
            uint16_t bytes[16] = {};
            uint8_t rows[16] = {};
        } config;
        for (int n = 0; n < 8; n++) config.bytes[n] = 64, config.rows[n] = TILE;
        _tile_loadconfig(&config);
    }
    static void end() { _tile_release(); }

    // `from` and `to` have rows of 2 tiles, `stride` numbers apart.
    static void multiply(const Block& block, const float* from, float* to, int64_t stride) {
        _tile_loadd(0, from, stride * 4);
        _tile_loadd(1, from + TILE, stride * 4);
        _tile_loadd(2, from + TILE * stride, stride * 4);
        _tile_loadd(3, from + TILE * stride + TILE, stride * 4);
        for (int64_t d = 0; d * TILE < block.pairs; d++) {
            _tile_loadd(4, block.a[0] + d * block.a_step, block.a_stride);
            _tile_loadd(6, block.b[0] + d * block.b_step, block.b_stride);
            _tile_dpbf16ps(0, 4, 6);
            _tile_loadd(5, block.a[1] + d * block.a_step, block.a_stride);
            _tile_dpbf16ps(2, 5, 6);
            if (!block.b[1]) continue;
            _tile_loadd(7, block.b[1] + d * block.b_step, block.b_stride);
            _tile_dpbf16ps(1, 4, 7);
            _tile_dpbf16ps(3, 5, 7);
        }
        _tile_stored(0, to, stride * 4);
        _tile_stored(1, to + TILE, stride * 4);
        _tile_stored(2, to + TILE * stride, stride * 4);
        _tile_stored(3, to + TILE * stride + TILE, stride * 4);
    }
};
#endif
