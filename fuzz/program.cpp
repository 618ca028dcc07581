// SPDX-License-Identifier: BSD-3-Clause
#include "program.hpp"

#include <algorithm>
#include <cstring>

namespace scute::fuzz {
namespace {

constexpr const char* place_names[place_kinds] = {
    "superblock", "lane status", "ring entry",   "ring record",   "undo entry",  "log link",
    "zone",       "root anchor", "chunk header", "object header", "part header", "payload",
    "parity",     "chunk bytes", "raw",          "file size"};
constexpr const char* operation_names[] = {"set",  "xor",  "add",  "interesting",
                                           "fill", "zero", "copy", "flip"};
constexpr const char* action_names[action_kinds] = {
    "begin or commit", "abort",     "alloc",        "free",          "open",      "add range",
    "in place",        "get range", "get verified", "object update", "root",      "locate",
    "inspect",         "check",     "reopen",       "crash",         "container", "wild oid"};

}  // namespace

program decode(std::span<const uint8_t> input) {
  program p;
  const auto at = [&](size_t i) { return i < input.size() ? input[i] : uint8_t{0}; };
  p.image = at(0);
  p.flags = at(1);
  p.crash_fence = at(2);
  size_t commands = 0;
  for (size_t i = head_size; i < input.size() && commands < commands_max;
       i += command_size, ++commands) {
    uint8_t c[command_size];
    for (size_t k = 0; k < command_size; ++k) c[k] = at(i + k);
    uint32_t value = 0;
    std::memcpy(&value, c + 4, sizeof value);
    if ((c[0] & 0x80) != 0) {
      p.actions.push_back({static_cast<action_kind>((c[0] & 0x7f) % action_kinds), c[1],
                           static_cast<uint16_t>(c[2] | c[3] << 8), value});
      continue;
    }
    mutation m{};
    m.kind = static_cast<place_kind>(c[0] & 15);
    m.reseal = (c[0] & 16) != 0;
    m.width = static_cast<uint8_t>(1u << (c[0] >> 5 & 3));
    m.which = c[1];
    m.field = c[2];
    m.what = static_cast<operation>(c[3] & 7);
    m.extra = c[3] >> 3;
    m.value = value;
    p.mutations.push_back(m);
  }
  return p;
}

std::string describe(const program& p) {
  std::string text;
  if ((p.flags & open_read_only) != 0) text += "  first opened read-only\n";
  if ((p.flags & crash_first) != 0)
    text += "  crash at fence " + std::to_string(p.crash_fence + 1) + " of the first session\n";
  for (const mutation& m : p.mutations)
    text += std::string("  ") + place_names[static_cast<size_t>(m.kind)] + " " +
            std::to_string(m.which) + ", field " + std::to_string(m.field) + "+" +
            std::to_string(m.extra) + ", " + std::to_string(m.width) +
            " bytes: " + operation_names[static_cast<size_t>(m.what)] + " " +
            std::to_string(m.value) + (m.reseal ? ", resealed\n" : "\n");
  for (const action& a : p.actions)
    text += std::string("  then ") + action_names[static_cast<size_t>(a.what)] + ", object " +
            std::to_string(a.object) + ", " + std::to_string(a.small) + ", " +
            std::to_string(a.value) + "\n";
  return text;
}

}  // namespace scute::fuzz
