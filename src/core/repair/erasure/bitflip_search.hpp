// SPDX-License-Identifier: BSD-3-Clause
// Searches for a fragment's true bytes if there are many small injuries in its columns, some of
// them its own and some of other rows or of the parity: flipped bits. Decoded as a whole the
// fragment would inherit the injuries of the others. So each syndrome run
// (core/repair/erasure/syndrome_runs.hpp) is corrected or left alone by itself, and the checksum
// decides which of them to correct.
//
// BITFLIP-1 A CRC is linear before it is scrambled (FRAG-2): a syndrome run's change changes the
//    sum by a word that depends on nothing else. So the sum of every choice is an XOR of such
//    words, and the payload is read once.
// BITFLIP-2 The cost of a choice is the number of syndrome runs that it does not take the likeliest
//    way. With one parity that is the number that it takes for the fragment's own. Choices are
//    tried in the order of cost, and of each cost all of them or none.
// BITFLIP-3 Wrong bytes are accepted once in 2^32 choices, and attempts_max choices are tried. All
//    are tried, whatever is found: two that the checksum accepts refute each other, and neither is
//    believed. So only a fragment whose truth is not among the choices can get wrong bytes.
// BITFLIP-4 Nothing is tried if the choices hardly include the truth: with one parity, if they
//    cannot take as many syndrome runs for the fragment as a cell of these columns has on average.
//    The average counts the fragment's own cells, those of fragments that are known to be damaged,
//    those that no checksum vouches for, and a parity.
// BITFLIP-5 If that is not enough the other damaged fragments of the columns are searched, in
//    memory, with neighbours_max choices for each: a run that one of them certainly has is not this
//    fragment's.
// BITFLIP-6 Adler-32 is not searched: sums of small changes collide far more often than once in
//    2^32.
//
// On BITFLIP-3: a fragment that is beyond repair is taken for repaired with a probability of 2048 *
// 2^-32 = 2^-21 at most. The same probability applies again each time it is tried after other
// fragments of its columns were repaired.
//
// On BITFLIP-4: noise over several rows, or more flips than can be told apart, costs few attempts
// then, or none.
//
// On BITFLIP-5: a wrong result among these (2^-18 each) does not make the fragment's checksum
// accept anything: it is asked about attempts_max choices in all, and no other fragment is
// explained by it.
#pragma once

#include <vector>

#include "core/repair/erasure/syndrome_runs.hpp"

namespace scute::core::repair {

class bitflip_search {
 public:
  static constexpr uint64_t attempts_max = 2048;                 // BITFLIP-3
  static constexpr uint64_t neighbours_max = uint64_t{1} << 14;  // BITFLIP-5

  // damaged: the rows of other fragments that fail their checksums in these columns. blank: the
  // number of rows of bytes that no checksum vouches for.
  bitflip_search(pool::state& s, const pool::fragment& f, syndromes& sums,
                 std::vector<uint16_t> damaged, size_t blank = 0);

  // If exactly one choice is accepted by the checksum, leaves header and payload, as units_of()
  // lays them out, in image().
  bool find(uint64_t attempts = attempts_max);
  const std::vector<std::byte>& image() const noexcept { return image_; }
  // The damage that was found is the fragment's: takes it out of the syndromes that other searches
  // use.
  void take_out();

  // Whether so much else is damaged in these columns that the damage of the others is hard to tell
  // apart as well (BITFLIP-5).
  bool crowded() const noexcept { return crowded_; }
  // A hash of the fragment's bytes and of the syndromes of its columns.
  uint64_t fingerprint();
  // Number of choices that were tried.
  uint64_t attempts() const noexcept { return attempts_; }

 private:
  using bytes = std::vector<std::byte>;
  // One choice for the header, which fits in form, and its consequences for the payload's syndrome
  // runs.
  struct variant {
    bytes header;
    size_t cost;
    uint32_t wanted;                           // sum of the changes
    uint32_t length;                           // of the payload that the header vouches for
    std::vector<std::vector<uint32_t>> words;  // of each syndrome run's changes but the likeliest
  };
  // The state for one way to cut.
  struct search {
    const std::vector<syndrome_run>& runs;
    size_t first;  // of the payload
    std::vector<variant> headers;
    std::vector<size_t> chosen;  // change of each syndrome run
  };

  void look(const std::vector<syndrome_run>& runs, uint64_t attempts);
  void choose_header(search& x, size_t i, size_t cost);
  bool complete(search& x, variant& v);
  void choose(search& x, const variant& v, size_t i, size_t left, uint32_t sum);
  void accept(const search& x, const variant& v);
  uint32_t covered(const bytes& image) const noexcept;
  size_t of_each_cell(size_t runs) const noexcept;
  size_t least_cost(size_t runs) const noexcept;
  size_t most_runs(uint64_t attempts) const noexcept;

  pool::state& s_;
  const pool::fragment f_;
  syndromes& sums_;
  const std::vector<uint16_t> damaged_;
  const size_t blank_;
  const std::vector<unit> units_;
  bytes kept_, image_;
  uint64_t attempts_ = 0;
  unsigned found_ = 0;  // different images
  bool crowded_ = false;
};

// The whole search, BITFLIP-5 included. failed: notes searches that need not be repeated; may be
// null. Needs parity. For threads without a stripe.
bool find_bitflips(pool::state& s, const pool::fragment& f, std::vector<std::byte>& image,
                   pool::failed_searches* failed = nullptr);

}  // namespace scute::core::repair
