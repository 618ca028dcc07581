// SPDX-License-Identifier: BSD-3-Clause
// Persist-on-write files as they were left, in memory: what inputs are made of, and what may be
// found in them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "pow/store.hpp"

namespace scute::fuzz {
using namespace core;

// The memory of one file, with inaccessible pages around it.
class store_memory {
 public:
  static constexpr uint64_t size_max = uint64_t{1} << 20;
  store_memory();
  ~store_memory();
  store_memory(const store_memory&) = delete;
  store_memory& operator=(const store_memory&) = delete;

  void load(const std::vector<std::byte>& content);
  std::byte* base() const noexcept { return base_; }
  uint64_t size() const noexcept { return size_; }
  std::unique_ptr<medium::medium> medium(bool read_only);

 private:
  std::byte* base_ = nullptr;
  uint64_t size_ = 0;
};

// Texts by index.
class texts final : public pow::serializer {
 public:
  std::map<uint64_t, std::string> all;
  uint32_t measure(uint64_t index) override { return static_cast<uint32_t>(all.at(index).size()); }
  void encode(uint64_t index, std::byte* to, uint32_t) override {
    std::memcpy(to, all.at(index).data(), all.at(index).size());
  }
  void load(uint64_t index, uint32_t, const std::byte* bytes, uint32_t n) override {
    all[index].assign(reinterpret_cast<const char*>(bytes), n);
  }
};

struct store_image {
  std::vector<std::byte> content;
  pow::protection protect;
  bool one_stream, closed;
  uint64_t segment_size;
  std::map<uint64_t, std::string> there;           // the objects of an undamaged file
  std::map<uint64_t, std::set<std::string>> ever;  // the versions committed at any time
};

// Some of each kind: closed properly and not; with erased objects, parts, sections `later`, and
// cleaned segments.
const std::vector<store_image>& store_images();

pow::store_options options_for(const store_image& image, bool salvage);

}  // namespace scute::fuzz
