// SPDX-License-Identifier: BSD-3-Clause
// The two files of a view, and where they are mapped: the head, which is the view's own, and the
// file's bytes, of which the program has descriptors and mappings. They are files in memory; or the
// bytes are a file without a name in a folder, which the kernel keeps in memory as far as there is
// some.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "view/region.hpp"

namespace scute::core::supervisor {

class view_memory {
 public:
  // New ones. In memory, the bytes cannot be cut short, by whoever has them. Behind the view's own,
  // the head has `more` bytes. folder: where the bytes lie; empty: in memory. There they get their
  // blocks, so that no store meets a full disk. Throws failure.
  static view_memory make(const view::region_shape& shape, uint64_t file_size, uint64_t more = 0,
                          const std::string& folder = {});
  // Takes the descriptors over. Throws failure.
  static view_memory attach(int head, int bytes);

  view_memory(view_memory&& other) noexcept;
  view_memory& operator=(view_memory&& other) noexcept;
  ~view_memory();

  int head() const noexcept { return head_; }
  int bytes() const noexcept { return bytes_; }
  std::span<std::byte> control() const noexcept { return control_; }
  std::byte* bytes_at() const noexcept { return bytes_at_; }
  // What the head has behind the view's own; maybe nothing.
  std::span<std::byte> more() const;
  uint64_t capacity() const noexcept { return capacity_; }
  bool is_in_memory() const noexcept;
  // The bytes do: in memory, or in a folder that is.
  bool takes_memory() const noexcept;
  // Of the file of bytes; what write(2) has appended counts.
  uint64_t length() const noexcept;
  // It gets n bytes long, for which there is room: reserve() has been called. Throws failure.
  void lengthen(uint64_t n) const;
  // In memory, each huge page that lies in these bytes as a whole becomes one page, where Linux
  // grants it (base/huge_pages.hpp).
  void use_huge_pages(uint64_t offset, uint64_t n) const noexcept;
  // Of a file in a folder: blocks. Throws failure.
  void reserve(uint64_t n) const;
  // Nobody writes to such bytes by a descriptor any more, or maps them to store there. (A file in a
  // folder cannot do that.)
  static void end_writes(int bytes) noexcept;
  // Nor does its length change by them: what they are told they have made longer would not be in
  // the file. As soon as it has its last length.
  static void end_growth(int bytes) noexcept;
  static bool has_ended(int bytes) noexcept;  // end_writes() of it has been called
  // Changes of the head are this process's own from now on. False: it stays as it is.
  bool forget_region() const noexcept;
  // All stays as it is, and is nobody's to give back.
  void abandon() noexcept;

 private:
  view_memory() = default;
  void map(uint64_t head_size, uint64_t capacity);

  int head_ = -1, bytes_ = -1;
  std::span<std::byte> control_;
  std::byte* bytes_at_ = nullptr;
  uint64_t capacity_ = 0;
};

}  // namespace scute::core::supervisor
