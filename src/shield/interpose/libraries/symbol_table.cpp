// SPDX-License-Identifier: BSD-3-Clause
#include "shield/interpose/libraries/symbol_table.hpp"

#include <atomic>

#include "shield/interpose/calls/plain_text.hpp"

namespace scute::core::interpose {
namespace {

uint32_t gnu_hash_of(const char* name) noexcept {
  uint32_t h = 5381;
  for (; *name != 0; ++name) h = h * 33 + static_cast<unsigned char>(*name);
  return h;
}

const ElfW(Dyn) * dynamic_of(const dl_phdr_info& object) noexcept {
  for (int i = 0; i < object.dlpi_phnum; ++i)
    if (object.dlpi_phdr[i].p_type == PT_DYNAMIC)
      // NOLINTNEXTLINE(performance-no-int-to-ptr): where it is loaded
      return reinterpret_cast<const ElfW(Dyn)*>(object.dlpi_addr + object.dlpi_phdr[i].p_vaddr);
  return nullptr;
}

using iterator = decltype(&::dl_iterate_phdr);
constinit std::atomic<iterator> iterate{nullptr};

}  // namespace

symbol_table::symbol_table(const link_map& object) noexcept
    : base_(object.l_addr), dynamic_(object.l_ld) {
  read();
}

symbol_table::symbol_table(const dl_phdr_info& object) noexcept
    : base_(object.dlpi_addr),
      parts_(object.dlpi_phdr),
      part_count_(object.dlpi_phnum),
      dynamic_(dynamic_of(object)) {
  if (dynamic_ != nullptr) read();
}

void symbol_table::read() noexcept {
  // The loader has turned these into addresses, but not in the kernel's object.
  const auto place = [this](ElfW(Addr) p) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): as above
    return reinterpret_cast<const void*>(p < base_ ? base_ + p : p);
  };
  for (const ElfW(Dyn)* d = dynamic_; d->d_tag != DT_NULL; ++d) {
    if (d->d_tag == DT_SYMTAB) symbols_ = static_cast<const ElfW(Sym)*>(place(d->d_un.d_ptr));
    if (d->d_tag == DT_STRTAB) texts_ = static_cast<const char*>(place(d->d_un.d_ptr));
    if (d->d_tag == DT_HASH) hash_ = static_cast<const uint32_t*>(place(d->d_un.d_ptr));
    if (d->d_tag == DT_GNU_HASH) gnu_hash_ = static_cast<const uint32_t*>(place(d->d_un.d_ptr));
    if (d->d_tag == DT_VERSYM) versions_ = static_cast<const uint16_t*>(place(d->d_un.d_ptr));
  }
}

void* symbol_table::at(uint32_t index, const char* name) const noexcept {
  const ElfW(Sym)& s = symbols_[index];
  constexpr uint16_t not_default = 0x8000;
  if (s.st_shndx == SHN_UNDEF || ELF64_ST_TYPE(s.st_info) != STT_FUNC ||
      (versions_ != nullptr && (versions_[index] & not_default) != 0) ||
      !is_same_text(texts_ + s.st_name, name))
    return nullptr;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): where it is loaded
  return reinterpret_cast<void*>(base_ + s.st_value);
}

void* symbol_table::find(const char* name) const noexcept {
  if (symbols_ == nullptr || texts_ == nullptr) return nullptr;
  if (gnu_hash_ != nullptr) {
    const uint32_t buckets = gnu_hash_[0], first = gnu_hash_[1], filter_words = gnu_hash_[2];
    if (buckets == 0) return nullptr;
    const uint32_t* const bucket = gnu_hash_ + 4 + filter_words * (sizeof(ElfW(Addr)) / 4);
    const uint32_t* const chain = bucket + buckets;
    const uint32_t wanted = gnu_hash_of(name);
    uint32_t i = bucket[wanted % buckets];
    if (i < first) return nullptr;
    for (;; ++i) {
      const uint32_t h = chain[i - first];
      void* const found = (h | 1) == (wanted | 1) ? at(i, name) : nullptr;
      if (found != nullptr || (h & 1) != 0) return found;  // the last of the chain
    }
  }
  for (uint32_t i = 0; hash_ != nullptr && i < hash_[1]; ++i)
    if (void* const found = at(i, name); found != nullptr) return found;
  return nullptr;
}

bool symbol_table::is_ours() const noexcept {
  return dynamic_ == _DYNAMIC;
}

bool symbol_table::contains(const void* where) const noexcept {
  for (size_t i = 0; i < part_count_; ++i) {
    const auto& part = parts_[i];
    const uintptr_t begin = base_ + part.p_vaddr;
    if (part.p_type == PT_LOAD && reinterpret_cast<uintptr_t>(where) - begin < part.p_memsz)
      return true;
  }
  return false;
}

void* function_behind_ours(const char* name) noexcept {
  void* anywhere = nullptr;
  bool passed = false;
  for (const link_map* object = _r_debug.r_map; object != nullptr; object = object->l_next) {
    const symbol_table t(*object);
    if (t.is_ours()) {
      passed = true;
      continue;
    }
    void* const found = t.find(name);
    if (found != nullptr && passed) return found;
    if (anywhere == nullptr) anywhere = found;
  }
  return anywhere;
}

void for_each_object(int (*f)(dl_phdr_info*, size_t, void*), void* argument) noexcept {
  iterator all = iterate.load(std::memory_order_relaxed);
  if (all == nullptr) {
    all = reinterpret_cast<iterator>(function_behind_ours("dl_iterate_phdr"));
    iterate.store(all, std::memory_order_relaxed);
  }
  all(f, argument);
}

}  // namespace scute::core::interpose
