// SPDX-License-Identifier: BSD-3-Clause
// The folder of a pool in memory: log files that exist in memory only, so that an input costs no
// system call. A store or a read after a file's end is a breach, or fails.
#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/failure.hpp"
#include "core/medium/log_paths.hpp"
#include "ram_medium.hpp"

namespace scute::fuzz {
using namespace core;

// Does not move while it grows.
struct log_bytes {
  static constexpr uint64_t room = uint64_t{1} << 20;
  bytes all = bytes(room);
  uint64_t size = 0;

  bytes content() const { return {all.begin(), all.begin() + static_cast<long>(size)}; }
};

struct log_folder {
  std::shared_ptr<log_bytes> named, coming;
  unsigned set_aside = 0;  // files

  void put(const bytes& content) {
    named = std::make_shared<log_bytes>();
    named->size = std::min<uint64_t>(content.size(), log_bytes::room);
    std::copy_n(content.begin(), named->size, named->all.begin());
  }
};

class ram_log final : public medium::medium {
 public:
  ram_log(std::shared_ptr<log_bytes> of, bool read_only) : of_(std::move(of)) {
    base_ = of_->all.data();
    size_ = of_->size;
    read_only_ = read_only;
    kind_ = ::scute::core::medium::kind::simulated;
  }
  const char* flush_name() const noexcept override { return "none"; }
  bool read(uint64_t offset, void* to, size_t n) const noexcept override {
    if (offset > size_ || n > size_ - offset) return false;
    std::memcpy(to, base_ + offset, n);
    return true;
  }
  void resize(uint64_t size) {
    if (size > log_bytes::room)
      throw ::scute::core::failure(SCUTE_E_NOSPC, "no room for so long a log");
    std::fill(of_->all.begin() + static_cast<long>(std::min(size, size_)), of_->all.end(),
              std::byte{0});
    of_->size = size_ = size;
  }

 protected:
  void do_stream(::scute::core::medium::writer&, void* dst, const void* src,
                 size_t n) noexcept override {
    do_store(dst, src, n);
  }
  void do_flush(::scute::core::medium::writer&, const void*, size_t) noexcept override {}
  void do_fence(::scute::core::medium::writer&) noexcept override {}
  void do_store(void* dst, const void* src, size_t n) noexcept override {
    const auto at = static_cast<uint64_t>(static_cast<std::byte*>(dst) - base_);
    if (at > size_ || n > size_ - at) {
      std::fprintf(stderr, "fuzz: the log is stored to where it must not be\n");
      std::abort();
    }
    std::memcpy(dst, src, n);
  }

 private:
  std::shared_ptr<log_bytes> of_;
};

class ram_place final : public medium::log_paths {
 public:
  explicit ram_place(log_folder& folder) : folder_(folder) {}
  std::string path(name n) const override {
    return n == name::named ? "image.log" : "image.log.new";
  }
  bool is_wanted(const medium::medium&) const noexcept override { return true; }
  std::unique_ptr<medium::medium> open(name n, medium::access how) override {
    const auto& f = at(n);
    if (f == nullptr) return nullptr;
    // A reader that changes bytes changes a copy of its own, as in a private mapping.
    const bool reads = how == medium::access::read;
    return std::make_unique<ram_log>(reads ? std::make_shared<log_bytes>(*f) : f, reads);
  }
  std::unique_ptr<medium::medium> make(uint64_t size) override {
    folder_.coming = std::make_shared<log_bytes>();
    auto made = std::make_unique<ram_log>(folder_.coming, false);
    made->resize(size);
    return made;
  }
  void give_name() override {
    if (folder_.named != nullptr)
      throw ::scute::core::failure(SCUTE_E_EXISTS, "a log has that name");
    folder_.named = std::exchange(folder_.coming, nullptr);
  }
  void set_aside(name n) override {
    at(n) = nullptr;
    ++folder_.set_aside;
  }
  bool remove(name n) noexcept override { return std::exchange(at(n), nullptr) != nullptr; }
  void resize(medium::medium& m, uint64_t size) override { static_cast<ram_log&>(m).resize(size); }

 private:
  std::shared_ptr<log_bytes>& at(name n) {
    return n == name::named ? folder_.named : folder_.coming;
  }
  log_folder& folder_;
};

}  // namespace scute::fuzz
