// SPDX-License-Identifier: BSD-3-Clause
#include "shield/interpose/stores/flush_scan.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <vector>

#include "scute/shield_hooks.h"
#include "shield/interpose/libraries/loaded_objects.hpp"
#include "shield/interpose/stores/instruction.hpp"

namespace scute::core::interpose {
namespace {

// Decodings that start one byte apart fall into step within a few instructions.
constexpr size_t run_up = 96, decodings = 24, prefixes_max = 4;

bool begins_at(std::span<const uint8_t> code, size_t opcode) noexcept {
  const size_t first = opcode > run_up ? opcode - run_up : 0;
  size_t reached = 0, tried = 0;
  for (size_t start = first; start < first + decodings && start <= opcode; ++start, ++tried) {
    size_t at = start;
    while (at < opcode) {
      if (at + prefixes_max >= opcode && flush_begins(code, at)) break;
      const size_t n = instruction_length(code.subspan(at));
      at += n == 0 ? 1 : n;
    }
    if (at <= opcode) ++reached;
  }
  return 2 * reached > tried;
}

bool named_in(const std::string& list, std::string_view path) {
  size_t begin = 0;
  while (begin < list.size()) {
    const size_t end = std::min(list.find(':', begin), list.size());
    const std::string_view name(list.data() + begin, end - begin);
    if (!name.empty() && (name == path || name == name_of(path))) return true;
    begin = end + 1;
  }
  return false;
}

// SCAN-2. The last byte of the previous instruction may look like a prefix of the flush, which then
// seems to begin there. So the table may name any of its bytes up to the opcode.
bool in_table(const scute_shield_note_image* image, const uint8_t* flush) {
  if (image == nullptr) return false;
  const uint8_t* const opcode = std::find(flush, flush + prefixes_max + 1, 0x0f);
  const auto follow = [](const int32_t* field) {
    return reinterpret_cast<const int32_t*>(reinterpret_cast<uintptr_t>(field) +
                                            static_cast<uintptr_t>(intptr_t{*field}));
  };
  const int32_t *at = follow(&image->flushes), *const end = follow(&image->flushes_end);
  for (; at < end; ++at)
    if (const auto* const known = reinterpret_cast<const uint8_t*>(follow(at));
        known >= flush && known <= opcode)
      return true;
  return false;
}

// Segments that were searched and found clean. If an object is unloaded and another one loaded at
// its place, the path differs.
std::vector<std::pair<uintptr_t, std::string>>& clean_objects() {
  static auto& known = *new std::vector<std::pair<uintptr_t, std::string>>;
  return known;
}

}  // namespace

size_t find_flush(std::span<const uint8_t> code, size_t from) noexcept {
  for (size_t at = from; at + 2 < code.size(); ++at) {
    const auto* const hit =
        static_cast<const uint8_t*>(std::memchr(code.data() + at, 0x0f, code.size() - 2 - at));
    if (hit == nullptr) break;
    at = static_cast<size_t>(hit - code.data());
    if (code[at + 1] != 0xae) continue;
    // The first prefix with which it is a flush.
    for (size_t n = std::min(prefixes_max, at) + 1; n-- > 0;) {
      if (!flush_begins(code, at - n)) continue;
      if (begins_at(code, at)) return at - n;
      break;
    }
  }
  return code.size();
}

found_flush find_inline_flush(const std::string& allowed) {
  for (const loaded_object& o : loaded_objects()) {
    const std::pair<uintptr_t, std::string> name{o.base, o.path};
    if (std::find(clean_objects().begin(), clean_objects().end(), name) != clean_objects().end())
      continue;
    if (named_in(allowed, o.path)) continue;
    for (const std::span<const uint8_t> code : o.code)
      for (size_t at = find_flush(code, 0); at < code.size();
           at = find_flush(code, at + instruction_length(code.subspan(at)))) {
        if (in_table(o.image, code.data() + at)) continue;
        return {o.path, reinterpret_cast<uintptr_t>(code.data()) + at - o.base, o.image != nullptr};
      }
    clean_objects().push_back(name);
  }
  return {};
}

bool all_instrumented() {
  const std::vector<loaded_object> all = loaded_objects();
  return std::all_of(all.begin(), all.end(), [](const loaded_object& o) {
    return o.compiled || o.image != nullptr || comes_with_language(o.path);
  });
}

}  // namespace scute::core::interpose
