// SPDX-License-Identifier: BSD-3-Clause
// Code that writes cache lines back without a report. A store
// to a view is durable only if its flush is reported to the runtime, so a program that flushes by
// its own instructions must not get a view.
//
// SCAN-1 Every executable segment of every loaded object is searched, except for: the C library and
//    its loader, libpmem and libpmem2 (whose calls are interposed), this library, libcrypto (which
//    flushes only its own data), and objects that the user has named.
// SCAN-2 In an object that scute-cc has made, a flush counts unless its table has it
//        (scute/shield_hooks.h).
// SCAN-3 The bytes of a flush count only where an instruction begins, that is, where most of the
//    decodings that start some way before arrive. Bytes inside another instruction, or in data, do
//    not count.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace scute::core::interpose {

struct found_flush {
  std::string object;   // its file; empty: there is none
  uint64_t offset = 0;  // in the object's memory
  bool instrumented = false;

  explicit operator bool() const noexcept { return !object.empty(); }
};

// allowed: names of objects (paths, or their last parts), separated by colons. Objects that were
// searched before are skipped. In a critical section.
found_flush find_inline_flush(const std::string& allowed);

// Whether every loaded object is instrumented, except for those of SCAN-1 and the libraries of the
// language (two of which this library needs): then inline flushes are reported.
bool all_instrumented();

// SCAN-3. The place at or after `from` where a flush begins; code.size(): none.
size_t find_flush(std::span<const uint8_t> code, size_t from) noexcept;

}  // namespace scute::core::interpose
