// SPDX-License-Identifier: BSD-3-Clause
#include "shield/interpose/stores/instruction.hpp"

namespace scute::core::interpose {
namespace {

class reader {
 public:
  explicit reader(std::span<const uint8_t> code) : code_(code) {}

  bool at_end() const noexcept { return at_ >= code_.size(); }
  uint8_t peek() const noexcept { return at_end() ? uint8_t{0} : code_[at_]; }
  uint8_t take() noexcept {
    const uint8_t byte = peek();
    ++at_;
    return byte;
  }
  void skip(size_t n) noexcept { at_ += n; }
  size_t length() const noexcept {
    constexpr size_t longest = 15;
    return at_ > code_.size() || at_ > longest ? 0 : at_;
  }
  // ModRM, SIB and displacement; returns the ModRM byte.
  uint8_t operands() noexcept {
    const uint8_t modrm = take();
    const unsigned mod = modrm >> 6, rm = modrm & 7;
    if (mod == 3) return modrm;
    bool base_is_displacement = mod == 0 && rm == 5;
    if (rm == 4) {
      const uint8_t sib = take();
      base_is_displacement = mod == 0 && (sib & 7) == 5;
    }
    if (mod == 1) skip(1);
    if (mod == 2 || base_is_displacement) skip(4);
    return modrm;
  }

 private:
  std::span<const uint8_t> code_;
  size_t at_ = 0;
};

bool in(uint8_t byte, uint8_t first, uint8_t last) noexcept {
  return byte >= first && byte <= last;
}

bool is_legacy_prefix(uint8_t byte) noexcept {
  switch (byte) {
    case 0x26:
    case 0x2e:
    case 0x36:
    case 0x3e:
    case 0x64:
    case 0x65:
    case 0x66:
    case 0x67:
    case 0xf0:
    case 0xf2:
    case 0xf3: return true;
    default: return false;
  }
}

// The map after 0F, as VEX and EVEX use it as well.
bool second_map_has_immediate(uint8_t op) noexcept {
  return in(op, 0x70, 0x73) || op == 0xa4 || op == 0xac || op == 0xba || op == 0xc2 ||
         in(op, 0xc4, 0xc6) || op == 0x0f;
}

bool second_map_has_no_operands(uint8_t op) noexcept {
  return in(op, 0x05, 0x09) || op == 0x0b || op == 0x0e || in(op, 0x30, 0x37) || op == 0x77 ||
         in(op, 0xa0, 0xa2) || in(op, 0xa8, 0xaa) || in(op, 0xc8, 0xcf);
}

bool extended(reader& r, unsigned map) noexcept {
  const uint8_t op = r.take();
  if (map == 1 && op == 0x77) return true;
  r.operands();
  if (map == 3 || (map == 1 && second_map_has_immediate(op))) r.skip(1);
  return map >= 1 && map <= 6 && map != 4;
}

bool second_map(reader& r) noexcept {
  const uint8_t op = r.take();
  if (op == 0x38) {
    r.skip(1);
    r.operands();
    return true;
  }
  if (op == 0x3a) {
    r.skip(1);
    r.operands();
    r.skip(1);
    return true;
  }
  if (in(op, 0x80, 0x8f)) {
    r.skip(4);
    return true;
  }
  if (second_map_has_no_operands(op)) return true;
  if (op == 0x04 || op == 0x0a || op == 0x0c || op == 0x24 || op == 0x25 || op == 0x26 ||
      op == 0x27)
    return false;
  r.operands();
  if (second_map_has_immediate(op)) r.skip(1);
  return true;
}

bool first_map(reader& r, uint8_t op, bool narrow, bool wide, bool short_address) noexcept {
  const size_t full = narrow ? 2 : 4;
  if (op < 0x40) {
    switch (op & 7) {
      case 4: r.skip(1); return true;
      case 5: r.skip(full); return true;
      case 6:
      case 7: return false;
      default: r.operands(); return true;
    }
  }
  if (in(op, 0x50, 0x5f)) return true;
  if (in(op, 0x70, 0x7f) || in(op, 0xb0, 0xb7) || in(op, 0xe0, 0xe7)) {
    r.skip(1);
    return true;
  }
  if (in(op, 0xb8, 0xbf)) {
    r.skip(wide ? 8 : full);
    return true;
  }
  if (in(op, 0xa0, 0xa3)) {
    r.skip(short_address ? 4 : 8);
    return true;
  }
  if (in(op, 0x84, 0x8f) || in(op, 0xd0, 0xd3) || in(op, 0xd8, 0xdf) || op == 0x63 || op == 0xfe ||
      op == 0xff) {
    r.operands();
    return true;
  }
  switch (op) {
    case 0x60:
    case 0x61:
    case 0x82:
    case 0x9a:
    case 0xce:
    case 0xd4:
    case 0xd5:
    case 0xd6:
    case 0xea: return false;
    case 0x68:
    case 0xa9: r.skip(full); return true;
    case 0x69:
    case 0x81:
    case 0xc7:
      r.operands();
      r.skip(full);
      return true;
    case 0x6a:
    case 0xa8:
    case 0xcd:
    case 0xeb: r.skip(1); return true;
    case 0x6b:
    case 0x80:
    case 0x83:
    case 0xc0:
    case 0xc1:
    case 0xc6:
      r.operands();
      r.skip(1);
      return true;
    case 0xc2:
    case 0xca: r.skip(2); return true;
    case 0xc8: r.skip(3); return true;
    case 0xe8:
    case 0xe9: r.skip(4); return true;
    case 0xf6:
      if ((r.operands() >> 3 & 7) < 2) r.skip(1);
      return true;
    case 0xf7:
      if ((r.operands() >> 3 & 7) < 2) r.skip(full);
      return true;
    default: return true;  // no operands
  }
}

}  // namespace

size_t instruction_length(std::span<const uint8_t> code) noexcept {
  reader r(code);
  bool narrow = false, short_address = false, wide = false;
  while (is_legacy_prefix(r.peek()) && !r.at_end()) {
    const uint8_t prefix = r.take();
    narrow |= prefix == 0x66;
    short_address |= prefix == 0x67;
  }
  if (in(r.peek(), 0x40, 0x4f)) wide = (r.take() & 8) != 0;
  if (r.at_end()) return 0;
  const uint8_t op = r.take();
  bool known = false;
  if (op == 0x0f) {
    known = second_map(r);
  } else if (op == 0xc5) {
    r.skip(1);
    known = extended(r, 1);
  } else if (op == 0xc4) {
    const unsigned map = r.take() & 0x1f;
    r.skip(1);
    known = extended(r, map);
  } else if (op == 0x62) {
    const unsigned map = r.take() & 7;
    r.skip(2);
    known = extended(r, map);
  } else {
    known = first_map(r, op, narrow, wide, short_address);
  }
  return known ? r.length() : 0;
}

bool flush_begins(std::span<const uint8_t> code, size_t at) noexcept {
  bool narrow = false;
  while (at < code.size() && is_legacy_prefix(code[at])) {
    if (code[at] == 0xf0 || code[at] == 0xf2 || code[at] == 0xf3) return false;
    narrow |= code[at++] == 0x66;
  }
  if (at < code.size() && in(code[at], 0x40, 0x4f)) ++at;
  if (at + 3 > code.size() || code[at] != 0x0f || code[at + 1] != 0xae) return false;
  const uint8_t modrm = code[at + 2];
  const unsigned reg = modrm >> 3 & 7;
  return modrm >> 6 != 3 && (reg == 7 || (reg == 6 && narrow));
}

}  // namespace scute::core::interpose
