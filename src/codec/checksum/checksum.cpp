// SPDX-License-Identifier: BSD-3-Clause
#include "codec/checksum/checksum.hpp"

#include "codec/checksum/adler32.hpp"
#include "codec/checksum/crc32c.hpp"

namespace scute::core::codec {

uint32_t checksum(checksum_kind kind, const void* a, size_t na, const void* b, size_t nb) noexcept {
  switch (kind) {
    case checksum_kind::crc32c: return crc32c(crc32c(0, a, na), b, nb);
    case checksum_kind::adler32: return adler32(adler32(1, a, na), b, nb);
    case checksum_kind::none: break;
  }
  return 0;
}

uint32_t checksum_more(checksum_kind kind, uint32_t sum, const void* p, size_t n) noexcept {
  switch (kind) {
    case checksum_kind::crc32c: return crc32c(sum, p, n);
    case checksum_kind::adler32: return adler32(sum, p, n);
    case checksum_kind::none: break;
  }
  return 0;
}

uint32_t checksum_update(checksum_kind kind, uint32_t sum, const void* old_bytes,
                         const void* new_bytes, size_t n, uint64_t bytes_after) noexcept {
  switch (kind) {
    case checksum_kind::crc32c: {
      const uint32_t change = crc32c_linear_xor(old_bytes, new_bytes, n);
      return sum ^ (bytes_after == 0 ? change : crc32c_shift(change, bytes_after));
    }
    case checksum_kind::adler32: return adler32_update(sum, old_bytes, new_bytes, n, bytes_after);
    case checksum_kind::none: break;
  }
  return 0;
}

const char* checksum_name(checksum_kind kind) noexcept {
  switch (kind) {
    case checksum_kind::none: return "none";
    case checksum_kind::crc32c: return "crc32c";
    case checksum_kind::adler32: return "adler32";
  }
  return "unknown";
}

bool checksum_parse(std::string_view name, checksum_kind& out) noexcept {
  for (const auto kind : {checksum_kind::none, checksum_kind::crc32c, checksum_kind::adler32}) {
    if (name == checksum_name(kind)) {
      out = kind;
      return true;
    }
  }
  return false;
}

}  // namespace scute::core::codec
