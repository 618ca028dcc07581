// SPDX-License-Identifier: BSD-3-Clause
// A medium with a view of it, as a runtime would set it up: two files in memory that a child
// inherits.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <memory>
#include <optional>

#include "memory_backing.hpp"
#include "shield/view/file_view.hpp"
#include "shield/view/line_copy.hpp"

namespace scute::view_tests {

// A file in memory, mapped.
class memory_file {
 public:
  memory_file(uint64_t size, uint64_t capacity)
      : file_(::memfd_create("view", MFD_CLOEXEC)), capacity_(capacity) {
    if (file_ < 0 || ::ftruncate(file_, static_cast<off_t>(size)) != 0)
      throw std::runtime_error("memfd");
    void* at = ::mmap(nullptr, capacity, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
    if (at == MAP_FAILED) throw std::runtime_error("mmap");
    at_ = static_cast<std::byte*>(at);
  }
  ~memory_file() {
    ::munmap(at_, capacity_);
    ::close(file_);
  }
  memory_file(const memory_file&) = delete;
  memory_file& operator=(const memory_file&) = delete;
  std::byte* data() const noexcept { return at_; }
  std::span<std::byte> bytes() const noexcept { return {at_, capacity_}; }
  int file() const noexcept { return file_; }
  // Becomes a hole.
  void clear(uint64_t offset, uint64_t n) const {
    if (::fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                    static_cast<off_t>(n)) != 0)
      throw std::runtime_error("fallocate");
  }

 private:
  int file_;
  uint64_t capacity_;
  std::byte* at_;
};

// Without a load of a whole line, a runtime has to keep stores away. Here no thread stores
// meanwhile, or the test is about something else.
class counting_guard final : public view::page_guard {
 public:
  bool hold(uint64_t, size_t) noexcept override {
    ++holds;
    return true;
  }
  void release(uint64_t, size_t) noexcept override { ++releases; }
  std::atomic<uint64_t> holds = 0, releases = 0;
};

// Places pages as the kernel does for a program that waits for one; touched() is what such a
// program meets.
class hole_placer final : public view::page_placer {
 public:
  explicit hole_placer(const memory_file& file) : file_(file) {}
  bool place(uint64_t offset, std::span<const std::byte> bytes, size_t& placed) noexcept override {
    for (placed = 0; placed < bytes.size() / view::page_size; ++placed) {
      const uint64_t at = offset + placed * view::page_size;
      if (is_there(at)) return false;
      core::switch_point();
      if (::pwrite(file_.file(), bytes.data() + placed * view::page_size, view::page_size,
                   static_cast<off_t>(at)) != ssize_t{view::page_size})
        return false;
    }
    return true;
  }
  bool take(uint64_t offset) noexcept override {
    file_.clear(offset, view::page_size);
    return true;
  }
  bool is_there(uint64_t offset) const noexcept {
    const uint64_t page = offset / view::page_size * view::page_size;
    const off_t data = ::lseek(file_.file(), static_cast<off_t>(page), SEEK_DATA);
    return data >= 0 && static_cast<uint64_t>(data) < page + view::page_size;
  }

 private:
  const memory_file& file_;
};

constexpr uint64_t pages_up(uint64_t n) {
  return (n + view::page_size - 1) / view::page_size * view::page_size;
}

struct viewed_file {
  explicit viewed_file(uint64_t size, uint64_t capacity = 0, size_t lines_max = 256)
      : medium(size, pages_up(std::max(size, capacity)), lines_max),
        shape(view::file_view::shape_for(medium, std::max(size, capacity))),
        control(view::region::size(shape), view::region::size(shape)),
        content(pages_up(size), pages_up(std::max(size, capacity))) {
    view::region::format(control.bytes(), shape, size);
  }
  view::file_view& open() {
    view::view_parts parts{control.bytes(), content.data(), core::kept_number(content.file()),
                           &medium,         &guard,         sink};
    if (places) parts.placer = &placer;
    parts.watch = watch;
    v.emplace(parts);
    return *v;
  }
  // The wait of a program that touches the page.
  bool touch(uint64_t offset) { return !places || placer.is_there(offset) || v->load(offset, 1); }
  // A store to the page waits.
  bool is_protected(uint64_t offset) const {
    return places && protected_page == offset / view::page_size;
  }
  void let_go(uint64_t offset) {
    protected_page = offset / view::page_size;
    static_cast<void>(v->let_go(protected_page));
    protected_page = UINT64_MAX;
  }
  // The state that a death at this moment leaves, for a supervisor.
  void copy_to(viewed_file& to) const {
    medium.copy_to(to.medium);
    std::memcpy(to.control.data(), control.data(), control.bytes().size());
    for (uint64_t at = 0; at < pages_up(medium.size()); at += view::page_size)
      if (placer.is_there(at))
        std::memcpy(to.content.data() + at, content.data() + at, view::page_size);
      else
        to.content.clear(at, view::page_size);
  }
  std::span<const std::byte> seen() const { return {content.data(), medium.size()}; }
  bool same() const {
    return std::memcmp(content.data(), medium.bytes().data(), medium.size()) == 0;
  }
  // Words, as a program stores them.
  void store(uint64_t offset, uint64_t value) const {
    std::atomic_ref<uint64_t>(*reinterpret_cast<uint64_t*>(content.data() + offset))
        .store(value, std::memory_order_release);
  }
  uint64_t word(uint64_t offset) const {
    return std::atomic_ref<uint64_t>(*reinterpret_cast<uint64_t*>(content.data() + offset)).load();
  }
  uint64_t durable(uint64_t offset) const {
    uint64_t value = 0;
    std::memcpy(&value, medium.bytes().data() + offset, sizeof value);
    return value;
  }

  memory_backing medium;
  view::region_shape shape;
  memory_file control, content;
  hole_placer placer{content};
  bool places = false;
  uint64_t protected_page = UINT64_MAX;
  counting_guard guard;
  view::audit_sink* sink = nullptr;
  view::line_watch* watch = nullptr;
  std::optional<view::file_view> v;
};

}  // namespace scute::view_tests
