// SPDX-License-Identifier: BSD-3-Clause
// The schemes that are not crash consistent: doing nothing at all, and writing data back without a
// log.
#pragma once

#include "schemes/scheme.hpp"

namespace scute::sim {

// Programs that have their own flushes and fences run on it, too.
class no_persistence final : public scheme {
 public:
  using scheme::scheme;
  recovered recover(ticks crash) const override {
    return {contents_ != nullptr ? contents_->durable_at(crash) : image{}, {}};
  }

 private:
  ticks committing(unsigned, ticks) override { return 0; }
};

class no_log final : public scheme {
 public:
  using scheme::scheme;
  ticks storing(unsigned core, uint64_t address, unsigned, l1_line&, tlb_page&, ticks at) override {
    if (cores_[core].open) touch(cores_[core], line_of(address));
    return at;
  }
  recovered recover(ticks crash) const override {
    return {contents_ != nullptr ? contents_->durable_at(crash) : image{}, {}};
  }

 private:
  ticks committing(unsigned core, ticks at) override { return write_back_touched(core, at); }
};

}  // namespace scute::sim
