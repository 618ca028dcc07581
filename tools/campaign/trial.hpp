// SPDX-License-Identifier: BSD-3-Clause
// trial.hpp: one pool at rest is injured, opened, repaired,
// and read: the state of each object.
#pragma once

#include "image.hpp"
#include "oracle.hpp"

#include <string>

namespace scute_campaign {

struct outcome {
  uint64_t errors = 0;
  uint64_t errors_beside = 0;  // of these in FILE.scute, of a shielded file
  uint64_t objects = 0;
  uint64_t right = 0;          // as they were
  uint64_t refused = 0;        // an error instead of bytes
  uint64_t unchecked = 0;      // wrong bytes where the protection level promises nothing else
  uint64_t silent = 0;         // wrong bytes that it should have noticed
  uint64_t survivable = 0;     // had to survive
  uint64_t saved_besides = 0;  // came back although they need not have
  bool opened = false, had_to_open = false;
  bool within = false;  // the redundancy, byte by byte
  std::string broken;   // the broken promise; empty: all well

  bool all_back() const noexcept { return right == objects; }
};

class trial {
 public:
  trial(image& of, const settings& how, const cell& where);
  outcome run(unsigned number);

 private:
  void repair(scute_pool*& pool) const;
  void read(scute_pool* pool, const prediction& v, outcome& o) const;
  void enumerate(scute_pool* pool, outcome& o) const;
  bool excused(const object& o, const std::byte* bytes) const;

  image& image_;
  const settings& how_;
  const cell& where_;
  oracle oracle_;
};

}  // namespace scute_campaign
