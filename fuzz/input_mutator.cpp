// SPDX-License-Identifier: BSD-3-Clause
#include "input_mutator.hpp"

#include <algorithm>

#include "base_image.hpp"
#include "program.hpp"

namespace scute::fuzz {
namespace {

using offset = ptrdiff_t;

input random_command(std::mt19937_64& random) {
  input c(command_size);
  for (auto& b : c) b = static_cast<uint8_t>(random());
  // Small numbers name what there is; large ones only wrap around.
  if (random() % 2 == 0) c[2] = static_cast<uint8_t>(c[2] % 32);
  if (random() % 2 == 0) c[5] = c[6] = c[7] = 0;
  if (random() % 4 == 0) c[0] = static_cast<uint8_t>(c[0] & 0x7f);
  return c;
}

void change_once(input& in, std::mt19937_64& random) {
  if (in.size() < head_size) in.resize(head_size);
  const size_t n = (in.size() - head_size) / command_size;
  const auto at = [&](size_t i) { return in.begin() + offset(head_size + i * command_size); };
  switch (random() % 9) {
    case 0: in[0] = static_cast<uint8_t>(random() % 64); break;
    case 1:
      in[1] = static_cast<uint8_t>(random() % 4);
      in[2] = static_cast<uint8_t>(random() % 24);
      break;
    case 2:
    case 3:
      if (n < commands_max) {
        const input c = random_command(random);
        in.insert(at(random() % (n + 1)), c.begin(), c.end());
      }
      break;
    case 4:
      if (n > 0) {
        const size_t i = random() % n;
        in.erase(at(i), at(i + 1));
      }
      break;
    case 5:
      if (n > 1) {
        const size_t i = random() % n, k = random() % n;
        std::swap_ranges(at(i), at(i + 1) - (i == k ? offset(command_size) : 0), at(k));
      }
      break;
    case 6:
      if (n > 0 && n < commands_max) {
        const size_t i = random() % n;
        const input c(at(i), at(i + 1));
        in.insert(at(n), c.begin(), c.end());
      }
      break;
    case 7:
      if (n > 0) *(at(random() % n)) ^= static_cast<uint8_t>(1u << random() % 8);
      break;
    default:
      if (n > 0) {
        auto b = at(random() % n) + offset(random() % command_size);
        *b = random() % 2 == 0 ? static_cast<uint8_t>(random())
                               : static_cast<uint8_t>(*b + (random() % 2 == 0 ? 1 : -1));
      }
  }
}

}  // namespace

input fresh_input(std::mt19937_64& random) {
  input in(head_size);
  in[0] = static_cast<uint8_t>(random() % base_images().size());
  if (random() % 4 == 0) {
    in[1] = static_cast<uint8_t>(random() % 4);
    in[2] = static_cast<uint8_t>(random() % 24);
  }
  for (uint64_t n = 1 + random() % 3; n != 0; --n) {
    const auto kind =
        static_cast<uint8_t>(random() % (static_cast<uint8_t>(place_kind::payload) + 1));
    const bool reseal = random() % 8 != 0;
    const unsigned width = random() % 4;
    const uint64_t what = random() % 8;
    const auto operation_bits =
        static_cast<uint8_t>(what < 5 ? operation::interesting : static_cast<operation>(what - 5));
    const uint32_t value = what < 5 ? static_cast<uint32_t>(random() % 512)
                                    : static_cast<uint32_t>(random() >> (random() % 64));
    // Most fields of most structures begin within 64 bytes, those of a superblock within 256.
    const auto field = static_cast<uint8_t>(random() % (random() % 2 == 0 ? 16 : 64));
    in.insert(in.end(), {static_cast<uint8_t>(kind | (reseal ? 16 : 0) | width << 5),
                         static_cast<uint8_t>(random() >> (random() % 8)), field, operation_bits,
                         static_cast<uint8_t>(value), static_cast<uint8_t>(value >> 8),
                         static_cast<uint8_t>(value >> 16), static_cast<uint8_t>(value >> 24)});
  }
  return in;
}

void mutate_input(input& in, std::mt19937_64& random) {
  for (uint64_t changes = 1 + random() % 4; changes != 0; --changes) change_once(in, random);
}

}  // namespace scute::fuzz
