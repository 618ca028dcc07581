// SPDX-License-Identifier: BSD-3-Clause
#include "store_image.hpp"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

namespace scute::fuzz {
namespace {

constexpr uint64_t guard = uint64_t{1} << 20, page = 4096;

class ram final : public medium::medium {
 public:
  ram(std::byte* base, uint64_t size, bool read_only) {
    base_ = base;
    size_ = size;
    kind_ = core::medium::kind::simulated;
    read_only_ = read_only;
  }
  const char* flush_name() const noexcept override { return "none"; }

 protected:
  using any_writer = core::medium::writer;
  void do_stream(any_writer&, void* dst, const void* src, size_t n) noexcept override {
    store(dst, src, n);
  }
  void do_flush(any_writer&, const void*, size_t) noexcept override {}
  void do_store(void* dst, const void* src, size_t n) noexcept override { store(dst, src, n); }
  void do_fence(any_writer&) noexcept override {}

 private:
  void store(void* dst, const void* src, size_t n) const noexcept {
    if (read_only_) std::abort();
    std::memcpy(dst, src, n);
  }
};

void put(pow::store& s, texts& t, pow::table& of, uint64_t index, const std::string& text,
         pow::durability how, store_image& image) {
  pow::section x(s.parts(), how);
  if (t.all.contains(index))
    x.edit(of, index, pow::section::any_tag);
  else
    x.insert(of, index);
  t.all[index] = text;
  image.ever[index].insert(text);
  x.commit();
}

store_image make(pow::protection protect, bool one_stream, bool closed) {
  store_image image{{}, protect, one_stream, closed, 0, {}, {}};
  image.segment_size = protect == pow::protection::always ? 9 * page : 2 * page;
  const uint64_t segments = protect == pow::protection::always ? 9 : 16;
  store_memory memory;
  memory.load(std::vector<std::byte>(pow::first_segment + segments * image.segment_size));
  pow::shape how;
  how.protect = protect;
  how.segment_size = image.segment_size;
  how.segments = segments;
  for (uint8_t i = 0; uint8_t& b : how.uuid) b = static_cast<uint8_t>(0x51 + 3 * i++);
  texts t;
  {
    const auto s =
        pow::store::create(memory.medium(false), "image", how, options_for(image, false));
    pow::table& of = s->attach("texts", 7, 0, true, t);
    using enum pow::durability;
    const uint64_t wide = image.segment_size / 9;
    for (uint64_t i = 0; i < 12; ++i)
      put(*s, t, of, i, std::string(20 + i * wide / 12, static_cast<char>('a' + i)), strict, image);
    for (uint64_t i = 0; i < 8; ++i)
      put(*s, t, of, i, std::string(30 + i * wide / 9, static_cast<char>('A' + i)),
          i % 2 == 0 ? later : strict, image);
    {
      pow::section x(s->parts(), strict);
      x.erase(of, 3, pow::section::any_tag);
      t.all.erase(3);
      x.edit(of, 5, pow::section::any_tag);
      t.all[5] = "five";
      image.ever[5].insert("five");
      x.stream();
      x.edit(of, 6, pow::section::any_tag);
      t.all[6] = "six";
      image.ever[6].insert("six");
      x.commit();
    }
    s->clean(2);
    put(*s, t, of, 20, "late", later, image);
    s->sync();
    put(*s, t, of, 4, "four", strict, image);
    if (closed) s->close();
  }
  image.there = t.all;
  image.content.assign(memory.base(), memory.base() + memory.size());
  return image;
}

}  // namespace

store_memory::store_memory() {
  void* at = ::mmap(nullptr, guard + size_max + guard, PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) std::abort();
  base_ = static_cast<std::byte*>(at) + guard;
}

store_memory::~store_memory() {
  ::munmap(base_ - guard, guard + size_max + guard);
}

void store_memory::load(const std::vector<std::byte>& content) {
  const uint64_t pages = (content.size() + page - 1) / page * page;
  if (::mprotect(base_, size_max, PROT_NONE) != 0 ||
      (pages != 0 && ::mprotect(base_, pages, PROT_READ | PROT_WRITE) != 0))
    std::abort();
  size_ = content.size();
  std::memset(base_, 0, pages);
  if (size_ != 0) std::memcpy(base_, content.data(), size_);
}

std::unique_ptr<medium::medium> store_memory::medium(bool read_only) {
  return std::make_unique<ram>(base_, size_, read_only);
}

const std::vector<store_image>& store_images() {
  static const std::vector<store_image> all = [] {
    std::vector<store_image> to;
    for (const auto protect : {pow::protection::none, pow::protection::always})
      for (const bool stream : {false, true})
        for (const bool closed : {false, true}) to.push_back(make(protect, stream, closed));
    return to;
  }();
  return all;
}

pow::store_options options_for(const store_image& image, bool salvage) {
  pow::store_options w;
  w.limit.max_size = store_memory::size_max;
  w.limit.one_stream = image.one_stream;
  w.recovery.salvage = salvage;
  return w;
}

}  // namespace scute::fuzz
