// SPDX-License-Identifier: BSD-3-Clause
// Only this file removes names of files and gives them to others: a name alone does not make a file
// the library's.
//
// OURS-1 A file loses its name only after an examination: it is a regular file, and a pool, a
//    store or a log that the caller has read, or an unfinished file (OURS-4). Any other file is
//    left alone, or gets an unused name.
// OURS-2 The file that loses its name is the one that was examined.
// OURS-3 A file gets a name only where no file has it; except a pool that replaces another one
//    (FILE-4), which was examined.
// OURS-4 A file with a temporary name is removed only if it is unfinished: it has a mark of that,
//    or only zeros. While a file has a temporary name it has the mark: at its beginning, and from
//    when it has its size, after its last page. The mark is durably gone before a program can store
//    anything. So a pool with a program's data is never removed because of its name.
//
// A crash leaves the mark of OURS-4 with the temporary name, or with the real name. The next
// opening removes the file, or takes the mark off.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace scute::core::medium {

// The first bytes of the library's files; a pool and a store also have them in their second page,
// or the last one. Their sizes are whole pages.
inline constexpr size_t mark_size = 8;
inline constexpr char pool_mark[mark_size + 1] = "SCUTE\r\n\x1a", log_mark[] = "SCUTELOG",
                                            store_mark[] = "ScutePOW";
// The first bytes of a file in the making until it gets one of those, and its last ones until it
// has its name (OURS-4).
inline constexpr char making_mark[] = "SCUTENEW";

// OURS-1, for an open file. Returns false with errno 0 if it is another program's, or with another
// errno if it cannot be read.
bool is_ours(int fd) noexcept;
// The same for the file that a path leads to; false if there is none.
bool is_ours(const std::string& path) noexcept;

// OURS-4. mark_unfinished() marks the end of a file of that size. If there is no room for that
// nothing happens: then the file may be left over.
void mark_unfinished(int fd, uint64_t size) noexcept;
bool is_unfinished(int fd) noexcept;
// Takes the mark at the end of a file of ours off, durably: of any file, or of one that was marked
// with that size. Return false with errno.
bool unmark_finished(int fd) noexcept;
bool unmark_finished(int fd, uint64_t size) noexcept;

// Whether the open file still has that name. (Another file may have taken the name meanwhile.)
bool still_named(int fd, const std::string& name) noexcept;

// Removes the open file's name, unless another file has the name by now.
void unlink_named(int fd, const std::string& name) noexcept;
// OURS-1, OURS-2. Returns true if the file is removed. Otherwise it was not ours (errno is EEXIST),
// or errno says why. path may be a symbolic link, which is then what is removed.
bool remove_ours(const std::string& path) noexcept;

// OURS-3. Returns false with errno: EEXIST if a file has that name. Durable once the folder is
// synced.
bool rename_to_free(const std::string& from, const std::string& to) noexcept;

}  // namespace scute::core::medium
