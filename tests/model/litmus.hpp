// SPDX-License-Identifier: BSD-3-Clause
// Litmus tests: a small program of stores, flushes and fences, and all images that a power failure
// at its end may leave.
//
// The memory has four words: a and b in one line, c and d in the next, all 0 and durable at first.
// An image is written as their four values, such as "1200". A program is a list of, by "; ",
//
//   a=1      a cached store that is announced; ab=12 stores two neighbouring words at once
//   a<1      a non-temporal store, likewise
//   a?1      a store in place that a comparison has found, likewise
//   flush a  a write-back of the line of a
//   fence
//
// each by writer A, or, with "B: " in front of it, by writer B. Each has a thread of its own; with
// "B/A: " it is the thread of B that uses the writer of A.
#pragma once

#include <algorithm>
#include <set>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "model/persistence_model.hpp"

namespace scute::model {

using images = std::set<std::string>;

inline constexpr uint64_t litmus_size = 128;

inline uint64_t litmus_offset(char word) {
  switch (word) {
    case 'a': return 0;
    case 'b': return 8;
    case 'c': return 64;
    case 'd': return 72;
    default: throw std::invalid_argument(std::string("no word ") + word);
  }
}

inline void litmus_step(persistence_model& m, std::string_view op) {
  persistence_model::source by{1, 1};
  if (op.starts_with("B: ")) {
    by = {2, 2};
    op.remove_prefix(3);
  } else if (op.starts_with("B/A: ")) {
    by = {1, 2};
    op.remove_prefix(5);
  }
  if (op == "fence") return m.fence(by);
  if (op.starts_with("flush ")) return m.flush(litmus_offset(op.at(6)), 8, by);
  const size_t sign = op.find_first_of("=<?");
  if (sign == op.npos || sign == 0 || op.size() != 2 * sign + 1)
    throw std::invalid_argument("no litmus operation: " + std::string(op));
  std::vector<std::byte> bytes;
  for (const char digit : op.substr(sign + 1))
    bytes.resize(bytes.size() + 8, std::byte(digit - '0'));
  const uint64_t at = litmus_offset(op[0]);
  if (op[sign] == '=') m.store(at, bytes.data(), bytes.size());
  if (op[sign] == '<') m.stream(at, bytes.data(), bytes.size(), by);
  if (op[sign] == '?') m.found(at, bytes.data(), bytes.size());
}

inline void litmus_run(persistence_model& m, const std::string& program) {
  m.reset(std::vector<std::byte>(litmus_size));
  for (size_t at = 0; at < program.size();) {
    const size_t end = std::min(program.find("; ", at), program.size());
    litmus_step(m, std::string_view(program).substr(at, end - at));
    at = end + 2;
  }
}

// '*' for a word that is torn.
inline std::string litmus_text(std::span<const std::byte> image) {
  std::string text;
  for (const char word : {'a', 'b', 'c', 'd'}) {
    const std::byte* at = image.data() + litmus_offset(word);
    bool whole = true;
    for (size_t i = 1; i < 8; ++i) whole = whole && at[i] == at[0];
    text += whole ? static_cast<char>('0' + static_cast<int>(at[0])) : '*';
  }
  return text;
}

inline images parse_images(const std::string& text) {
  std::istringstream in(text);
  images all;
  for (std::string one; in >> one;) all.insert(one);
  return all;
}

// Calls fn with every choice that MODEL-1 allows, by trying all.
template <typename Fn>
void for_each_allowed(persistence_model& m, Fn&& fn) {
  const size_t n = m.atoms().size();
  if (n > 16) throw std::length_error("too many atoms for trying all subsets");
  for (uint64_t bits = 0; bits < uint64_t{1} << n; ++bits) {
    persistence_model::choice c(n);
    for (size_t i = 0; i < n; ++i) c[i] = (bits >> i & 1) != 0;
    persistence_model::choice closed = c;
    m.close_down(closed);
    if (closed == c) fn(c);
  }
}

inline std::vector<std::byte> image_of(const persistence_model& m,
                                       const persistence_model::choice& c) {
  std::vector<std::byte> image(m.durable().begin(), m.durable().end());
  m.apply(c, image);
  return image;
}

}  // namespace scute::model
