// SPDX-License-Identifier: BSD-3-Clause
#include "codec/checksum/adler32.hpp"

#include "codec/checksum/adler32_table.hpp"
#include "codec/dispatch.hpp"
#include "codec/target.hpp"

namespace scute::core::codec {

namespace {

constexpr const adler32_table* tables[] = {
    &adler32_portable,
#if SCUTE_CODEC_X86
    &adler32_avx2,
#endif
};

constinit dispatch<adler32_table> active{&adler32_portable};
[[maybe_unused]] const bool selected = active.select(tables);

constexpr uint64_t modulus = adler32_modulus;

uint32_t pack(uint64_t low, uint64_t high) {
  return static_cast<uint32_t>((high % modulus) << 16 | low % modulus);
}

}  // namespace

uint32_t adler32(uint32_t adler, const void* p, size_t n) noexcept {
  const uint64_t low = adler & 0xFFFF;
  const uint64_t high = adler >> 16;
  const adler32_sums s = active->sums(static_cast<const unsigned char*>(p), n);
  return pack(low + s.plain, high + low * (n % modulus) + s.weighted);
}

uint32_t adler32_update(uint32_t adler, const void* old_bytes, const void* new_bytes, size_t n,
                        uint64_t bytes_after) noexcept {
  const adler32_sums before = active->sums(static_cast<const unsigned char*>(old_bytes), n);
  const adler32_sums after = active->sums(static_cast<const unsigned char*>(new_bytes), n);
  const uint64_t plain = modulus + after.plain - before.plain;
  const uint64_t weighted = modulus + after.weighted - before.weighted;
  return pack((adler & 0xFFFF) + plain, (adler >> 16) + weighted + plain * (bytes_after % modulus));
}

std::vector<const adler32_table*> adler32_variants() {
  return runnable<adler32_table>(tables);
}

}  // namespace scute::core::codec
