// SPDX-License-Identifier: BSD-3-Clause
// An open persist-on-write file: assembles the parts (pow/file/format.hpp has the rules), and finds
// tables by name.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "pow/cleaner.hpp"
#include "pow/file/seal.hpp"
#include "pow/recovery/check.hpp"
#include "pow/recovery/recovery.hpp"
#include "pow/sections/section.hpp"

namespace scute::core::pow {

struct shape {  // of a new file
  protection protect = protection::always;
  uint64_t segment_size = 256 * 1024;
  uint64_t segments = 16;
  uint8_t uuid[16]{};
};

// Properties that an existing file must have; nothing, or 0: any.
struct demand {
  std::optional<protection> protect;
  uint64_t segment_size = 0;
  // Of the file; a new one may have a little more than the max_size that was asked for.
  uint64_t size_most = 0;
};

struct store_options {
  demand asked;
  limits limit;
  bool background = false;  // a thread cleans
  uint64_t clean_rate = 0;  // bytes per second that it may copy; 0: no limit
  recovery_options recovery;
};

class store {
 public:
  // m: has at least that many segments, zeros.
  static std::unique_ptr<store> create(std::unique_ptr<medium::medium> m, const std::string& name,
                                       const shape& how, const store_options& w);
  static std::unique_ptr<store> open(
      std::unique_ptr<medium::medium> m, const std::string& name, uint64_t file_size,
      const store_options& w);  // SCUTE_E_INVALID: w asks for another one
  // Drops the store like a process that dies.
  ~store();
  void end_background() noexcept;
  // Makes everything durable, and records that in the file. No section is open. Throws
  // failure(SCUTE_E_IO).
  void close();

  state& parts() noexcept { return s_; }
  const recovery_report& recovered() const noexcept { return report_; }
  // The file was closed properly before this opening.
  bool was_clean() const noexcept { return clean_; }

  // The table of that name, made if there is none. Its serializer gets its objects by load(), and
  // must outlive the store or be detached by detach(). Not inside a section. Throws failure:
  // SCUTE_E_TYPE (another type or size), SCUTE_E_BUSY (it has a serializer). earlier: types
  // that the table may have in the file, and that are replaced. recurs: ids may recur after their
  // object (POW-23 does not apply).
  table& attach(const std::string& name, uint32_t type, uint32_t size, bool chooses, serializer& k,
                std::span<const uint32_t> earlier = {}, bool recurs = false);
  void detach(table& t) noexcept;

  void sync();
  // Cleans until nothing is gained, or `most` segments. Returns how many.
  uint64_t clean(uint64_t most);
  // Cleans everything possible, moves the remaining segments to the front, and releases the rest of
  // the file.
  void compact(const progress_fn& progress);

  // See pow/recovery/check.hpp.
  check_report check(bool repair, bool compare, const progress_fn& progress = {});

 private:
  store(std::unique_ptr<medium::medium> m, const std::string& name, const store_options& w);
  void set_up(const store_options& w);
  uint64_t lengthen(uint64_t file_size);
  void load_catalogue();
  void load(table& t, serializer& k);
  void load_again(table& t, serializer& k);
  void renumber(table& t, uint32_t type) noexcept;
  void restore_seals();
  void seal_all();
  void drop_unneeded_last_valid() noexcept;
  void begin_background(uint64_t rate);
  void clean_in_background(uint64_t rate);
  void refuse_if_read_only() const;
  static int clean_for_room(state& s, need kept, uint64_t enough);

  struct catalogue final : serializer {
    explicit catalogue(state& in) : s(in) {}
    uint32_t measure(uint64_t index) override;
    void encode(uint64_t index, std::byte* to, uint32_t size) override;
    void load(uint64_t index, uint32_t tag, const std::byte* bytes, uint32_t n) override;
    state& s;
  };

  state s_;
  catalogue catalogue_;
  recovery_report report_;
  bool clean_ = true;
  waiting_mutex names_lock_;
  std::unique_ptr<seals> seals_;
  std::unique_ptr<cleaner> cleaner_;
  std::thread thread_;
  plain_mutex sleep_lock_;
  condition wake_;
  bool ending_ SCUTE_GUARDED_BY(sleep_lock_) = false;
};

}  // namespace scute::core::pow
