// SPDX-License-Identifier: BSD-3-Clause
// A shielded file as a subject of the crash explorer. The pool lies in the simulated memory, and
// the user's file where its bytes belong in it. After the pool lies the file's length, which
// changes as a file system changes it: at once.
#pragma once

#include <scute/exploration.hpp>

#include <memory>
#include <optional>

#include "core/layout/foreign.hpp"
#include "scute/scute.h"

namespace scute::testing {

struct foreign_shape {
  uint64_t size = 0, capacity = 0;
  unsigned zones = 1;
  scute_engine engine = SCUTE_ENGINE_LOGFREE;
};

class foreign_subject final : public subject {
 public:
  explicit foreign_subject(const foreign_shape& shape);
  ~foreign_subject() override;

  // The bytes of the file that a zone holds.
  static constexpr uint64_t share = uint64_t{2} << 20;

  uint64_t size() const override;
  void create(memory& m, uint64_t seed) override;
  void open(memory& m) override;
  findings check(bool repair) override;
  void probe() override;
  void close() override;
  void abandon() noexcept override;
  std::string noun() const override { return "shielded file"; }
  void act_as(unsigned thread) noexcept override;
  void drain() override;

  // While it is open. n bytes of this letter each; all or none of them.
  struct letters {
    uint64_t offset, n;
    char letter;
  };
  void write(std::initializer_list<letters> changes);
  // The same for a caller that knows the old bytes (SLICE-3): in the order of their places.
  void replace(std::initializer_list<letters> changes);
  void grow(uint64_t size);
  // Length and digest of all that is read, and the letters at multiples of 1,000 that it has not
  // had from the beginning.
  std::string text() const;

 private:
  std::vector<char> read_all() const;

  const foreign_shape shape_;
  const uint64_t zone_before_;
  scute_options options_{};
  core::pool::foreign_plan plan_;
  scute_pool* pool_ = nullptr;
};

}  // namespace scute::testing
