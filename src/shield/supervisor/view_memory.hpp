// SPDX-License-Identifier: BSD-3-Clause
// The two files of a view and their mappings: the head, which is the view's own, and the file's
// bytes, of which the program has descriptors and mappings. They are memory files. Or the bytes are
// an unnamed file in a folder, which the kernel keeps in memory as long as there is some.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/process/kept_number.hpp"
#include "shield/view/region.hpp"

namespace scute::core::supervisor {

class view_memory {
 public:
  // Makes new ones. No holder of a descriptor can cut bytes in memory short. After the view's own
  // part, the head has `more` bytes. folder: where the bytes lie; empty: in memory. In a folder
  // they get their blocks at once, so that no store meets a full disk. Throws failure.
  static view_memory make(const view::region_shape& shape, uint64_t file_size, uint64_t more = 0,
                          const std::string& folder = {});
  // Takes over the descriptors. Throws failure.
  static view_memory attach(int head, int bytes);

  view_memory(view_memory&& other) noexcept;
  view_memory& operator=(view_memory&& other) noexcept;
  ~view_memory();

  // NUMBER-1
  const kept_number& head() const noexcept { return head_; }
  const kept_number& bytes() const noexcept { return bytes_; }
  std::span<std::byte> control() const noexcept { return control_; }
  std::byte* bytes_at() const noexcept { return bytes_at_; }
  // The head's bytes after the view's own part; maybe none.
  std::span<std::byte> more() const;
  uint64_t capacity() const noexcept { return capacity_; }
  bool is_in_memory() const noexcept;
  // Whether the bytes take memory: they are in memory, or in a folder that is.
  bool takes_memory() const noexcept;
  // The length of the file of bytes, with what write(2) has appended; 0 if its program has closed
  // its descriptor.
  uint64_t length() const noexcept;
  // Makes it n bytes long; reserve() has made room before. Throws failure.
  void lengthen(uint64_t n) const;
  // In memory: turns each huge page that lies completely in these bytes into one page, if Linux
  // grants it (base/huge_pages.hpp).
  void use_huge_pages(uint64_t offset, uint64_t n) const noexcept;
  // For a file in a folder: allocates blocks. Throws failure.
  void reserve(uint64_t n) const;
  // From now on no process can write to these bytes by a descriptor, or map them to store there. (A
  // file in a folder cannot do that.)
  static void end_writes(int bytes) noexcept;
  // From now on no process can change their length by a descriptor: the file would not get the
  // bytes that they believe to have added. To be called as soon as they have their last length.
  static void end_growth(int bytes) noexcept;
  static bool has_ended(int bytes) noexcept;  // end_writes() was called for it
  // Makes changes of the head private to this process. Returns false if it stays shared.
  bool forget_region() const noexcept;
  // Leaves all mappings and descriptors as they are; nothing releases them.
  void abandon() noexcept;

 private:
  view_memory() = default;
  void map(uint64_t head_size, uint64_t capacity);

  kept_number head_, bytes_;
  std::span<std::byte> control_;
  std::byte* bytes_at_ = nullptr;
  uint64_t capacity_ = 0;
};

}  // namespace scute::core::supervisor
