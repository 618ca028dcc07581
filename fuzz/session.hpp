// SPDX-License-Identifier: BSD-3-Clause
// One opening of a pool in memory, and everything that a program might do with it. Results hardly
// matter here. The conditions that must hold are in conditions.hpp, and in the names of functions.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base_image.hpp"
#include "c_api/pool/guard.hpp"
#include "containers.hpp"
#include "program.hpp"

namespace scute::fuzz {
using namespace core;

enum class expectation {
  nothing,    // but that the library behaves
  no_lies,    // objects are what they were, or reported as damaged
  all_there,  // objects are what they were
};

class session {
 public:
  // Opens what the file holds. Refused if there is no pool to work with afterwards.
  session(ram_file& file, const base_image& image, bool read_only, uint64_t crash_fence);
  ~session() { close(); }
  session(const session&) = delete;
  session& operator=(const session&) = delete;

  bool refused() const noexcept { return handle_ == nullptr; }
  bool crashed() const noexcept { return medium_ != nullptr && medium_->crashed(); }
  bytes& after_crash() noexcept { return medium_->after_crash(); }

  void compare(expectation e);
  void run(const action& a);
  // Looks at everything, checks, repairs, changes things; the same for every input.
  void exercise();
  // Looks at everything again, for the session after that.
  void revisit();
  // True if the pool was marked clean.
  bool close();

 private:
  uint64_t walk();
  void read(uint64_t oid);
  void look_around();
  uint64_t check(bool repair, uint64_t* lost);
  void transact();
  void change_containers(uint32_t how, uint32_t value);

  bool begin();
  void end();
  uint64_t pick(uint8_t n) const { return oids_.empty() ? 1 : oids_[n % oids_.size()]; }
  uint64_t size_of(uint64_t oid);

  const base_image& image_;
  bool read_only_;
  ram_medium* medium_ = nullptr;
  scute_pool* handle_ = nullptr;  // owned by root_ if there is that
  std::unique_ptr<containers> root_;
  scute_tx* tx_ = nullptr;
  std::vector<uint64_t> oids_;
  unsigned losses_ = 0;
};

}  // namespace scute::fuzz
