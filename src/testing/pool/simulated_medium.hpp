// SPDX-License-Identifier: BSD-3-Clause
// A medium on a simulated memory, or on a part of it: each part is durable by its own fences.
#pragma once

#include <cstring>
#include <vector>

#include "core/medium/medium.hpp"
#include "model/simulated_memory.hpp"

namespace scute::testing {
using namespace core;

class simulated_medium : public core::medium::medium {
 public:
  // A part of the memory, as a file of its own.
  simulated_medium(model::simulated_memory& m, uint64_t from, uint64_t size)
      : memory_(m), from_(from) {
    base_ = m.bytes().data() + from;
    size_ = size;
    kind_ = core::medium::kind::simulated;
    eadr_ = m.eadr();
  }
  // The memory outlives the medium; all of it is accessible again then.
  ~simulated_medium() override {
    if (from_ == 0) memory_.unprotect();
  }
  const char* flush_name() const noexcept override { return "simulated"; }

  void lose_page(uint64_t offset, const std::byte* noise) noexcept override {
    if (memory_.listener != nullptr) memory_.listener->before(from_ + offset, page);
    std::memcpy(base_ + offset, noise, page);
    memory_.touch(from_ + offset, page);
    if (memory_.listener != nullptr) memory_.listener->damaged(from_ + offset, page);
    revoke_page(offset);
  }
  void revoke_page(uint64_t offset) noexcept override {
    note_revoked(offset, true);
    memory_.protect(from_ + offset);
  }
  // Another thread may run before this begins, and none before the page is whole.
  bool restore_page(core::medium::writer& w, uint64_t offset,
                    const std::byte* bytes) noexcept override {
    if (memory_.listener != nullptr) memory_.listener->before(from_ + offset, page);
    memory_.unprotect(from_ + offset);
    std::memcpy(base_ + offset, bytes, page);
    note_revoked(offset, false);
    memory_.touch(from_ + offset, page);
    if (memory_.listener != nullptr) memory_.listener->streamed(from_ + offset, page, number_of(w));
    do_fence(w);
    return true;
  }

 protected:
  void do_stream(core::medium::writer& w, void* dst, const void* src, size_t n) noexcept override {
    memory_.stream(offset_of(dst), src, n, number_of(w));
  }
  void do_flush(core::medium::writer& w, const void* p, size_t n) noexcept override {
    // A write-back of a protected page faults as a load does.
    if (memory_.is_protected(offset_of(p)))
      static_cast<void>(*static_cast<const volatile char*>(p));
    memory_.flush(offset_of(p), n, number_of(w));
  }
  void do_store(void* dst, const void* src, size_t n) noexcept override {
    memory_.store(offset_of(dst), src, n);
  }
  void do_fence(core::medium::writer& w) noexcept override { memory_.fence(number_of(w)); }

  // The number by which the listener identifies a writer.
  unsigned number_of(const core::medium::writer& w) {
    for (const auto& [writer, number] : writers_)
      if (writer == &w) return number;
    writers_.push_back({&w, memory_.next_writer()});
    return writers_.back().number;
  }

 private:
  uint64_t offset_of(const void* p) const noexcept {
    return from_ + static_cast<uint64_t>(static_cast<const std::byte*>(p) - base_);
  }

  struct numbered {
    const core::medium::writer* writer;
    unsigned number;
  };
  model::simulated_memory& memory_;
  const uint64_t from_;
  std::vector<numbered> writers_;
};

}  // namespace scute::testing
