// SPDX-License-Identifier: BSD-3-Clause
#include "codec/checksum/crc32c.hpp"

#include "codec/checksum/crc32c_table.hpp"
#include "codec/dispatch.hpp"
#include "codec/target.hpp"

namespace scute::core::codec {

namespace {

constexpr const crc32c_table* tables[] = {
    &crc32c_portable,
#if SCUTE_CODEC_X86
    &crc32c_sse42,
    &crc32c_avx512,
#endif
};

constinit dispatch<crc32c_table> active{&crc32c_portable};
[[maybe_unused]] const bool selected = active.select(tables);

const unsigned char* bytes(const void* p) {
  return static_cast<const unsigned char*>(p);
}

}  // namespace

uint32_t crc32c(uint32_t crc, const void* p, size_t n) noexcept {
  return ~active->update(~crc, bytes(p), n);
}

uint32_t crc32c_with_tail(const void* p, size_t n, const void* tail) noexcept {
  return ~active->update_with_tail(~uint32_t{0}, bytes(p), n, bytes(tail));
}

uint32_t crc32c_linear(const void* p, size_t n) noexcept {
  return active->update(0, bytes(p), n);
}

uint32_t crc32c_linear_xor(const void* a, const void* b, size_t n) noexcept {
  return active->linear_xor(bytes(a), bytes(b), n);
}

uint32_t crc32c_shift(uint32_t crc, uint64_t n) noexcept {
  return active->shift(crc, n);
}

std::vector<const crc32c_table*> crc32c_variants() {
  return runnable<crc32c_table>(tables);
}

}  // namespace scute::core::codec
