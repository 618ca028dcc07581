// SPDX-License-Identifier: BSD-3-Clause
// A medium on the explorer's memory, for any number of writers.
#pragma once

#include <scute/subject.hpp>

#include <map>

#include "core/medium/medium.hpp"

namespace scute::testing {

class memory_medium final : public core::medium::medium {
 public:
  explicit memory_medium(const memory& m) : memory_(m) {
    base_ = m.bytes().data();
    size_ = m.bytes().size();
    kind_ = core::medium::kind::simulated;
    eadr_ = m.eadr();
  }
  const char* flush_name() const noexcept override { return "simulated"; }

 protected:
  using any_writer = core::medium::writer;
  void do_stream(any_writer& w, void* dst, const void* src, size_t n) noexcept override {
    of(w).stream(dst, src, n);
  }
  void do_flush(any_writer& w, const void* p, size_t n) noexcept override { of(w).flush(p, n); }
  // (Which writer stores makes no difference.)
  void do_store(void* dst, const void* src, size_t n) noexcept override {
    stores_.store(dst, src, n);
  }
  void do_fence(any_writer& w) noexcept override { of(w).fence(); }

 private:
  writer& of(any_writer& w) { return writers_.try_emplace(&w, memory_).first->second; }

  memory memory_;
  writer stores_{memory_};
  std::map<const any_writer*, writer> writers_;
};

}  // namespace scute::testing
