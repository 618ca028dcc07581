// SPDX-License-Identifier: BSD-3-Clause
// A pool file that exists in memory only, so that an input costs no system call. The pages before
// and after the file cannot be touched: an access outside the mapping raises a signal. At a chosen
// fence the content is copied aside: the bytes that a crash right after that fence leaves.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <span>
#include <vector>

#include "core/medium/medium.hpp"

namespace scute::fuzz {
using namespace core;

using bytes = std::vector<std::byte>;

inline constexpr uint64_t file_size_max = uint64_t{3} << 20;

// The memory, mapped once and used by one medium after the other.
class ram_file {
 public:
  ram_file() {
    void* at = ::mmap(nullptr, guard + file_size_max + guard, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) std::abort();
    base_ = static_cast<std::byte*>(at) + guard;
  }
  ~ram_file() { ::munmap(base_ - guard, guard + file_size_max + guard); }
  ram_file(const ram_file&) = delete;
  ram_file& operator=(const ram_file&) = delete;

  void load(std::span<const std::byte> content) {
    const uint64_t pages = round_up(content.size());
    if (pages > accessible_)
      protect(accessible_, pages, PROT_READ | PROT_WRITE);
    else if (pages < accessible_)
      protect(pages, accessible_, PROT_NONE);
    accessible_ = pages;
    size_ = content.size();
    if (size_ != 0) std::memcpy(base_, content.data(), size_);
    if (pages != size_) std::memset(base_ + size_, 0, pages - size_);
  }
  bytes content() const { return {base_, base_ + size_}; }
  std::byte* base() const noexcept { return base_; }
  uint64_t size() const noexcept { return size_; }

 private:
  static constexpr uint64_t guard = uint64_t{1} << 20;

  static uint64_t round_up(uint64_t n) noexcept { return (n + 4095) / 4096 * 4096; }
  void protect(uint64_t from, uint64_t to, int how) noexcept {
    if (::mprotect(base_ + from, to - from, how) != 0) std::abort();
  }

  std::byte* base_ = nullptr;
  uint64_t size_ = 0, accessible_ = 0;
};

class ram_medium final : public medium::medium {
 public:
  explicit ram_medium(ram_file& file, bool read_only = false) : file_(file) {
    base_ = file.base();
    size_ = file.size();
    read_only_ = read_only;
    kind_ = ::scute::core::medium::kind::simulated;
  }
  const char* flush_name() const noexcept override { return "none"; }

  // Copies the content aside at the nth fence from now on, the first being 1.
  void crash_at_fence(uint64_t nth) noexcept { crash_fence_ = fences_ + nth; }
  bool crashed() const noexcept { return crashed_; }
  uint64_t fences() const noexcept { return fences_; }
  bytes& after_crash() noexcept { return after_crash_; }

  // Called after each fence, for finding the moment that an image is to show.
  std::function<void()> after_fence;

 protected:
  void do_stream(::scute::core::medium::writer&, void* dst, const void* src,
                 size_t n) noexcept override {
    std::memcpy(dst, src, n);
  }
  void do_flush(::scute::core::medium::writer&, const void*, size_t) noexcept override {}
  void do_store(void* dst, const void* src, size_t n) noexcept override {
    std::memcpy(dst, src, n);
  }
  void do_fence(::scute::core::medium::writer&) noexcept override {
    if (++fences_ == crash_fence_) {
      crashed_ = true;
      after_crash_ = file_.content();
    }
    if (after_fence) after_fence();
  }

 private:
  ram_file& file_;
  uint64_t fences_ = 0, crash_fence_ = 0;
  bool crashed_ = false;
  bytes after_crash_;
};

}  // namespace scute::fuzz
