// SPDX-License-Identifier: BSD-3-Clause
#include "pow/file/file.hpp"

#include <sys/random.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>

#include "core/file/new_file.hpp"
#include "core/medium/mapped_medium.hpp"

namespace scute::core::pow {
namespace {

std::unique_ptr<medium::medium> map(medium::file_handle file, const file_options& w,
                                    uint64_t reach) {
  struct rlimit most{};
  // A process that may write no files of that length would be killed by its system calls.
  const bool calls = ::getrlimit(RLIMIT_FSIZE, &most) != 0 || most.rlim_cur >= reach;
  const auto how = w.read_only ? medium::access::read : medium::access::write;
  return medium::map_file(std::move(file), w.medium, how, {reach, calls});
}

// All threads share one stream if a sync costs more than they gain by working in parallel (POW-11).
store_options for_medium(const file_options& w, const medium::medium& m) {
  store_options how = w.how;
  how.limit.one_stream = m.what() == medium::kind::file;
  return how;
}

std::unique_ptr<store> make(const std::string& path, const file_options& w) {
  medium::new_file making(path, w.mode, false);
  shape fresh = w.fresh;
  if (::getrandom(fresh.uuid, sizeof fresh.uuid, 0) != sizeof fresh.uuid)
    throw_errno("choose a uuid for " + path, errno);
  const uint64_t size = first_segment + fresh.segments * fresh.segment_size;
  const uint64_t reach = std::max(size, w.how.limit.max_size);
  auto file = making.open(size);
  file.require_room(size, "a store of that size");
  if (const int e = file.reserve(0, size); e != 0)
    throw_errno("reserve " + std::to_string(size) + " bytes for " + path, e);
  auto m = map(std::move(file), w, reach);
  m->will_use(0, size);
  const store_options how = for_medium(w, *m);
  auto made = store::create(std::move(m), path, fresh, how);
  making.publish();
  return made;
}

std::unique_ptr<store> open_there(const std::string& path, const file_options& w) {
  auto file =
      medium::file_handle::open(path, w.read_only ? medium::access::read : medium::access::write);
  const uint64_t size = file.size();
  auto m = map(std::move(file), w, w.read_only ? size : std::max(size, w.how.limit.max_size));
  store_options how = for_medium(w, *m);
  how.background = how.background && !w.read_only;
  return store::open(std::move(m), path, size, how);
}

}  // namespace

std::unique_ptr<store> open_file(const std::string& path, const file_options& w) {
  for (int tries = 0;; ++tries) {
    if (w.may_exist) try {
        return open_there(path, w);
      } catch (const failure& f) {
        if (f.code() != SCUTE_E_NOENT || !w.may_create || tries == 2) throw;
      }
    try {
      return make(path, w);
    } catch (const failure& f) {
      // Another process or thread has made it meanwhile.
      if (f.code() != SCUTE_E_EXISTS || !w.may_exist || tries == 2) throw;
    }
  }
}

}  // namespace scute::core::pow
