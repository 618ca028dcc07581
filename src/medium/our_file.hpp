// SPDX-License-Identifier: BSD-3-Clause
// Names of files are taken away, and given to others, here and nowhere else: a name alone does not
// make a file the library's.
//
// OURS-1 A file loses its name only after a look into it: it is a regular file, and a pool, a
//    store, a log, or one of these in the making; or it has no byte but zeros, which is what a file
//    is made of. Anything else is left alone, or gets a name that no file has.
// OURS-2 The file that loses its name is the one that was looked at.
// OURS-3 A file gets a name only where no file has it; except a pool that replaces another one
//        (FILE-4), which was looked at.
#pragma once

#include <cstddef>
#include <string>

namespace scute::core::medium {

// The first bytes of the library's files; a pool and a store in their second page, or the last one,
// as well.
inline constexpr size_t mark_size = 8;
inline constexpr char pool_mark[mark_size + 1] = "SCUTE\r\n\x1a", log_mark[] = "SCUTELOG",
                                            store_mark[] = "ScutePOW";
// The first bytes of a file in the making until it gets one of those.
inline constexpr char making_mark[] = "SCUTENEW";

// OURS-1, of an open file. False if it is another program's, and errno is 0 then; or if it cannot
// be read, for what errno says.
bool is_ours(int fd) noexcept;
// The same of the file that a path leads to; false if there is none.
bool is_ours(const std::string& path) noexcept;

// The open file has that name. (A file that has a name, and is another one, has taken it
// meanwhile.)
bool still_named(int fd, const std::string& name) noexcept;

// Takes the name from the open file, unless another one has it by now.
void unlink_named(int fd, const std::string& name) noexcept;
// OURS-1, OURS-2. True if the file is gone. It is not if it was none of ours (errno is EEXIST), or
// for what errno says. path may be a symbolic link, which is what goes then.
bool remove_ours(const std::string& path) noexcept;

// OURS-3. False for what errno says, EEXIST if a file has that name. Durable when the folder is
// synced.
bool rename_to_free(const std::string& from, const std::string& to) noexcept;

}  // namespace scute::core::medium
