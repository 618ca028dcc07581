// SPDX-License-Identifier: BSD-3-Clause
// The containers in a pool's root, used through the C++ interface, whose names and the core's do
// not go together in one file.
#pragma once

#include <cstdint>
#include <memory>

#include "scute/scute.h"

namespace scute::fuzz {

class containers {
 public:
  // Takes the pool over, and closes it in the end.
  explicit containers(scute_pool* handle);
  ~containers();
  containers(const containers&) = delete;
  containers& operator=(const containers&) = delete;

  void fill();
  void read();
  // One change, in a transaction of its own.
  void change(uint32_t how, uint32_t value);
  // False if the pool refused to close properly.
  bool close();

  static constexpr uint32_t change_many = 13;

 private:
  struct inside;
  std::unique_ptr<inside> in_;
};

}  // namespace scute::fuzz
