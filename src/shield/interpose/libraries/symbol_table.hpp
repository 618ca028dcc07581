// SPDX-License-Identifier: BSD-3-Clause
// The symbols that a loaded object defines, read from its own tables: this finds the C library's
// dlsym() past our own, and named symbols of other objects.
#pragma once

#include <link.h>

#include <cstddef>
#include <cstdint>

namespace scute::core::interpose {

class symbol_table {
 public:
  explicit symbol_table(const dl_phdr_info& object) noexcept;
  explicit symbol_table(const link_map& object) noexcept;  // contains() says no

  // The function of that name, in the version for callers that ask for none; null: there is none.
  void* find(const char* name) const noexcept;
  // Whether it is this library.
  bool is_ours() const noexcept;
  bool contains(const void* at) const noexcept;

 private:
  void read() noexcept;
  void* at(uint32_t index, const char* name) const noexcept;

  ElfW(Addr) base_;
  const ElfW(Phdr) * parts_ = nullptr;
  size_t part_count_ = 0;
  const ElfW(Dyn) * dynamic_;
  const ElfW(Sym) * symbols_ = nullptr;
  const char* texts_ = nullptr;
  const uint32_t* hash_ = nullptr;
  const uint32_t* gnu_hash_ = nullptr;
  const uint16_t* versions_ = nullptr;
};

// The first function of that name in the objects after this library, like RTLD_NEXT. If there is
// none, that in any other object: a program that is linked with this library, and does not load it
// first, may have the C library in front of it. No other thread may load or unload libraries
// meanwhile, so the first call is before main().
void* function_behind_ours(const char* name) noexcept;

// The C library's dl_iterate_phdr(), whatever library is in front of it.
void for_each_object(int (*f)(dl_phdr_info*, size_t, void*), void* argument) noexcept;

// Calls f(table) for each loaded object, in the order in which they were loaded, until it says
// true. Without memory from the heap.
template <class F>
void for_each_symbol_table(F f) noexcept {
  for_each_object(
      [](dl_phdr_info* object, size_t, void* to) noexcept {
        return (*static_cast<F*>(to))(symbol_table(*object)) ? 1 : 0;
      },
      &f);
}

}  // namespace scute::core::interpose
