// SPDX-License-Identifier: BSD-3-Clause
#include "shield/supervisor/runtime_library.hpp"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <string_view>
#include <vector>

namespace scute::core::supervisor {
namespace {

// A symbol that no other library defines.
constexpr std::string_view defined = "scute_shield_hooks_get";

#ifdef __x86_64__
constexpr int machine = EM_X86_64;
#else
constexpr int machine = EM_AARCH64;
#endif

class elf_file {
 public:
  explicit elf_file(const std::string& path)
      : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    struct stat s{};
    if (fd_ >= 0 && ::fstat(fd_, &s) == 0 && S_ISREG(s.st_mode))
      size_ = static_cast<uint64_t>(s.st_size);
  }
  ~elf_file() {
    if (fd_ >= 0) ::close(fd_);
  }
  elf_file(const elf_file&) = delete;
  elf_file& operator=(const elf_file&) = delete;

  // Empty if the file does not have them all.
  template <class T>
  std::vector<T> read(uint64_t offset, uint64_t count) const {
    if (offset > size_ || count > (size_ - offset) / sizeof(T)) return {};
    std::vector<T> all(count);
    const size_t n = count * sizeof(T);
    const ssize_t got = ::pread(fd_, all.data(), n, static_cast<off_t>(offset));
    return got == static_cast<ssize_t>(n) ? all : std::vector<T>();
  }

 private:
  int fd_;
  uint64_t size_ = 0;
};

bool is_library(const ElfW(Ehdr) & head) {
  return std::memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 && head.e_ident[EI_CLASS] == ELFCLASS64 &&
         head.e_type == ET_DYN && head.e_machine == machine;
}

}  // namespace

bool is_runtime_library(const std::string& path) {
  const elf_file file(path);
  const auto head = file.read<ElfW(Ehdr)>(0, 1);
  if (head.empty() || !is_library(head[0])) return false;
  const auto sections = file.read<ElfW(Shdr)>(head[0].e_shoff, head[0].e_shnum);
  for (const ElfW(Shdr) & s : sections) {
    if (s.sh_type != SHT_DYNSYM || s.sh_link >= sections.size()) continue;
    const ElfW(Shdr)& text = sections[s.sh_link];
    const auto names = file.read<char>(text.sh_offset, text.sh_size);
    for (const ElfW(Sym) & symbol :
         file.read<ElfW(Sym)>(s.sh_offset, s.sh_size / sizeof(ElfW(Sym)))) {
      if (symbol.st_shndx == SHN_UNDEF || symbol.st_name >= names.size()) continue;
      const char* const name = names.data() + symbol.st_name;
      if (std::string_view(name, ::strnlen(name, names.size() - symbol.st_name)) == defined)
        return true;
    }
  }
  return false;
}

}  // namespace scute::core::supervisor
