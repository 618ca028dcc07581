// SPDX-License-Identifier: BSD-3-Clause
// The images that may be durable after each of some small programs, and why. The manuals promise
// little: all that they leave open is allowed here.
//
// Sections of the Intel Software Developer's Manual, by name, since their numbers move:
//   [atomic]  vol. 3, Guaranteed Atomic Operations: an aligned quadword is stored whole
//   [order]   vol. 3, Memory Ordering in P6 and More Recent Processor Families: stores of one
//             processor are seen in its order, except streaming ones and write-backs
//   [wb]      vol. 3, Methods of Caching Available: write-back lines go to memory when the cache
//             wants their room, whenever that is
//   [wc]      vol. 3, Buffering of Write Combining Memory Locations: buffers are emptied at any
//             time, in any order, a partly filled one in pieces of 8 bytes
//   [nt]      vol. 1, Cacheability Control, Prefetch, and Memory Ordering Instructions:
//             non-temporal stores are weakly ordered and bypass the caches
//   [clwb]    vol. 2, CLWB and CLFLUSHOPT: write back a line as all caches of the coherence domain
//             hold it, after older stores of this processor to it; ordered only by fences
//   [sfence]  vol. 2, SFENCE: orders what this processor did before it
// The platform decides whether a store counts as durable once it has left the caches (ADR), or once
// it is visible (eADR, durable caches).
#include <gtest/gtest.h>

#include "model/litmus.hpp"
#include "testing/variants.hpp"

namespace scute::testing {
namespace {

using namespace model;

struct litmus {
  const char* name;
  const char* program;
  const char* images;  // all that are allowed
};

void PrintTo(const litmus& l, std::ostream* to) {
  *to << l.program;
}

std::string name_of(const ::testing::TestParamInfo<litmus>& l) {
  return l.param.name;
}

void expect_images(const litmus& l, bool eadr) {
  model::persistence_model m(eadr);
  litmus_run(m, l.program);
  images by_trying, by_variants;
  for_each_allowed(m, [&](const auto& c) { by_trying.insert(litmus_text(image_of(m, c))); });
  const variants all(m, m.atoms(), 1);
  ASSERT_NE(all.count(), UINT64_MAX);
  for (uint64_t v = 0; v < all.count(); ++v)
    by_variants.insert(litmus_text(image_of(m, all.make(v))));
  EXPECT_EQ(by_trying, parse_images(l.images)) << l.program;
  EXPECT_EQ(by_variants, by_trying) << l.program;
}

// ---- cached stores ------------------------------------------------------------------------------

// MODEL-1.
const litmus cached[] = {
    // [wb] The line may be evicted at once, or stay for ever, without any flush.
    {"store", "a=1", "0000 1000"},
    // [clwb] A write-back has only begun; nothing says when it is done.
    {"store_flush", "a=1; flush a", "0000 1000"},
    // [clwb] [sfence] The fence completes the write-back.
    {"store_flush_fence", "a=1; flush a; fence", "1000"},
    // [sfence] A fence makes stores visible, which moves no line out of a cache.
    {"store_fence", "a=1; fence", "0000 1000"},
    // A write-back that begins after the fence is not completed by it.
    {"store_fence_flush", "a=1; fence; flush a", "0000 1000"},
    // [order] The line takes its stores in order, and leaves as it is at some moment: never "0200".
    {"one_line_keeps_order", "a=1; b=2", "0000 1000 1200"},
    {"one_line_keeps_order_of_three", "b=1; a=2; b=3", "0000 0100 2100 2300"},
    // [wb] Two lines leave in any order, whatever the order of the stores.
    {"two_lines_any_order", "a=1; c=2", "0000 1000 0020 1020"},
    // The lines' orders are independent: every prefix of the one with every prefix of the other.
    {"two_lines_of_two", "a=1; c=2; b=3; d=4", "0000 1000 1300  0020 1020 1320  0024 1024 1324"},
    // [wb] Between two stores to a word the line may leave with the first.
    {"same_word_twice", "a=1; a=2", "0000 1000 2000"},
    // And it may have left with a value that no thread sees any more.
    {"same_word_and_back", "a=1; a=0", "0000 1000"},
    // [clwb] takes the line as it was; a later store may or may not come along.
    {"store_after_flush", "a=1; flush a; a=2; fence", "1000 2000"},
    {"neighbour_after_flush", "a=1; flush a; b=2; fence", "1000 1200"},
    {"flush_before_store", "flush a; a=1; fence", "0000 1000"},
    // [clwb] works on whole lines: b comes along with a.
    {"flush_takes_the_line", "a=1; b=2; flush a; fence", "1200"},
    {"flush_of_another_line", "a=1; flush c; fence", "0000 1000"},
    // Publication: without the fence the pointer c may be durable before what it points to.
    {"publish_without_fence", "a=1; flush a; c=2; flush c", "0000 1000 0020 1020"},
    {"publish_with_fence", "a=1; flush a; fence; c=2", "1000 1020"},
    // [atomic] covers one quadword. A store of two words is made by two instructions, or by one
    // that no manual promises to be whole, in an order that the compiler has chosen.
    {"two_words_tear", "ab=12", "0000 1000 0200 1200"},
    // But all of them come before a later store to that line, [order].
    {"two_words_before_a_third_store", "ab=12; a=3", "0000 1000 0200 1200 3200"},
    {"two_words_after_a_store", "a=3; ab=12", "0000 3000 1000 3200 1200"},
};

// ---- two writers --------------------------------------------------------------------------------

// MODEL-3.
const litmus writers[] = {
    // [sfence] orders what its own processor did. The write-back of another one may still be on
    // its way.
    {"fence_by_another", "a=1; flush a; B: fence", "0000 1000"},
    {"flush_by_another", "a=1; B: flush a; fence", "0000 1000"},
    // [clwb] writes back the line wherever in the coherence domain it is: it does not matter
    // which thread has stored.
    {"flush_and_fence_by_another", "a=1; B: flush a; B: fence", "1000"},
    // The other's fence does not use up the own one.
    {"both_fence", "a=1; flush a; B: fence; fence", "1000"},
    // Each flush is completed by its own writer's fence, and either of them will do.
    {"both_flush_one_fences", "a=1; flush a; B: flush a; B: fence", "1000"},
    // B's fence completes B's flush, which came before the second store.
    {"flushes_around_a_store", "a=1; B: flush a; a=2; flush a; B: fence", "1000 2000"},
    {"two_lines_two_writers", "a=1; flush a; c=2; B: flush c; B: fence", "0020 1020"},
    // A second fence without a flush of its own promises nothing new.
    {"fence_is_used_up", "a=1; flush a; fence; a=2; fence", "1000 2000"},
    // ---- two threads, one writer ----
    // [sfence] A fence is its processor's, whatever the program calls the writer.
    {"flush_then_another_thread_fences", "a=1; flush a; B/A: fence", "0000 1000"},
    {"stream_then_another_thread_fences", "a<1; B/A: fence", "0000 1000"},
    {"another_thread_flushes_and_fences", "a=1; B/A: flush a; B/A: fence", "1000"},
    {"another_thread_flushes_again", "a=1; flush a; B/A: flush a; B/A: fence", "1000"},
    // A page cache has a list of dirty pages by writer, and the other one's fence has emptied it.
    {"another_thread_fences_first", "a=1; flush a; B/A: fence; fence", "0000 1000"},
    {"another_thread_fences_a_stream", "a<1; B/A: fence; fence", "0000 1000"},
    {"another_thread_fences_between", "a=1; flush a; c=2; B/A: flush c; B/A: fence; fence",
     "0020 1020"},
    {"flushed_again_after_that", "a=1; flush a; B/A: fence; flush a; fence", "1000"},
};

// ---- non-temporal stores ------------------------------------------------------------------------

// MODEL-2.
const litmus streamed[] = {
    // [wc] The buffer may be emptied at any time.
    {"stream", "a<1", "0000 1000"},
    // [nt] [sfence]
    {"stream_fence", "a<1; fence", "1000"},
    {"stream_fence_by_another", "a<1; B: fence", "0000 1000"},
    // [clwb] is about lines in caches; where the buffer is, only the fence says.
    {"stream_flush", "a<1; flush a", "0000 1000"},
    {"stream_flush_fence_by_another", "a<1; B: flush a; B: fence", "0000 1000"},
    // [wc] A buffer that is not full leaves in pieces of 8 bytes.
    {"stream_tears", "ab<12", "0000 1000 0200 1200"},
    {"stream_tears_over_lines", "c<2; ab<11", "0000 1000 0100 1100  0020 1020 0120 1120"},
    // [nt] Weakly ordered: not even stores to one line keep their order.
    {"streams_have_no_order", "a<1; b<2", "0000 1000 0200 1200"},
    // To one word they do: the later one stays on top.
    {"streams_to_one_word", "a<1; a<2", "0000 1000 2000"},
    {"stream_fence_stream", "a<1; fence; a<2", "1000 2000"},
    {"stream_and_back", "a<1; a<0", "0000 1000"},
};

// MODEL-4.
const litmus mixed[] = {
    // [nt] against [order]: cached and streamed stores to one line are not ordered.
    {"cached_and_streamed_neighbours", "a=1; b<2", "0000 1000 0200 1200"},
    // The fence completes the stream only.
    {"cached_and_streamed_neighbours_fence", "a=1; b<2; fence", "0200 1200"},
    {"streamed_between_cached", "a=1; b<2; a=3", "0000 1000 3000 0200 1200 3200"},
    // One word: each may be there, the younger one on top.
    {"cached_then_streamed", "a=1; a<2", "0000 1000 2000"},
    {"streamed_then_cached", "a<1; a=2", "0000 1000 2000"},
    // The fence completes the stream. The value cached before cannot come back: the non-temporal
    // store itself would have evicted the line [nt].
    {"cached_then_streamed_fence", "a=1; a<2; fence", "2000"},
    // A value cached after the stream may or may not have left.
    {"streamed_then_cached_fence", "a<1; a=2; fence", "1000 2000"},
    {"cached_flush_streamed_fence", "a=1; flush a; a<2; fence", "2000"},
    // The same between writers: the stream of A is overtaken by what B has made durable (MODEL-4).
    {"streamed_overtaken", "a<1; a=2; B: flush a; B: fence", "2000"},
    {"streamed_overtaken_by_streamed", "a<1; B: a<2; B: fence", "2000"},
    {"streamed_overtaken_then_fenced", "a<1; B: a<2; B: fence; fence", "2000"},
    // Only where they overlap: the rest of the older one is as open as before.
    {"streamed_overtaken_in_part", "ab<11; B: a<2; B: fence", "2000 2100"},
    {"cached_overtaken_in_part", "ab=11; B: a<2; B: fence", "2000 2100"},
    // An overtaken store still holds its place in the line's order: b=3 after a=1.
    {"overtaken_keeps_order", "b=1; a=1; b=3; B: a<2; B: fence", "2000 2100 2300"},
};

// ---- stores in place ----------------------------------------------------------------------------

// MODEL-6.
const litmus found[] = {
    // [wb] As cached stores, but in an unknown order.
    {"found", "a?1", "0000 1000"},
    {"found_any_order", "a?1; b?2", "0000 1000 0200 1200"},
    {"found_words_apart", "ab?12", "0000 1000 0200 1200"},
    {"found_fence", "a?1; fence", "0000 1000"},
    {"found_flush", "a?1; flush a", "0000 1000"},
    {"found_flush_fence", "a?1; flush a; fence", "1000"},
    {"found_flush_takes_the_line", "a?1; b?2; flush b; fence", "1200"},
    {"found_flush_fence_by_another", "a?1; flush a; B: fence", "0000 1000"},
    {"found_after_flush", "a?1; flush a; a?2; fence", "1000 2000"},
    {"found_twice", "a?1; a?2", "0000 1000 2000"},
    // Not ordered with announced stores to the line either.
    {"found_and_cached", "a?1; b=2", "0000 1000 0200 1200"},
    {"found_and_streamed", "a?1; a<2; fence", "2000"},
    {"streamed_and_found", "a<1; a?2; fence", "1000 2000"},
};

// ---- durable caches -----------------------------------------------------------------------------

// MODEL-5.
const litmus durable_caches[] = {
    // Visible is durable, and [order] says in which order stores become visible.
    {"store", "a=1", "1000"},
    {"stores_in_order", "a=1; c=2; b=3", "1320"},
    {"same_word_twice", "a=1; a=2", "2000"},
    // The power fails in the middle of a store of two words, until something else is done.
    {"two_words_tear", "ab=12", "0000 1000 0200 1200"},
    {"two_words_then_another", "ab=12; c=3", "1230"},
    {"two_words_then_fence", "ab=12; B: fence", "1200"},
    // [wc] Write-combining buffers are no caches: they need the fence.
    {"stream", "a<1", "0000 1000"},
    {"stream_fence", "a<1; fence", "1000"},
    {"stream_flush", "a<1; flush a", "0000 1000"},
    {"stream_fence_by_another", "a<1; B: fence", "0000 1000"},
    {"stream_then_store", "a<1; c=2", "0020 1020"},
    // To one word, the store is on top of the stream as soon as it is visible.
    {"stream_then_store_to_the_word", "a<1; a=2", "2000"},
    {"store_then_stream_to_the_word", "a=1; a<2", "1000 2000"},
    // Found stores were made, in some order, since the last event; at the next one all are.
    {"found", "a?1", "0000 1000"},
    {"found_any_order", "a?1; c?2", "0000 1000 0020 1020"},
    {"found_then_store", "a?1; c=2", "1020"},
    {"found_then_stream", "a?1; c<2", "1000 1020"},
    {"found_then_flush", "a?1; flush c", "1000"},
    {"found_then_fence", "a?1; fence", "1000"},
    {"found_over_stream", "a<1; a?2; c=3", "2030"},
};

class Cached : public ::testing::TestWithParam<litmus> {};
TEST_P(Cached, Litmus) {
  expect_images(GetParam(), false);
}
INSTANTIATE_TEST_SUITE_P(Litmus, Cached, ::testing::ValuesIn(cached), name_of);

class Writers : public ::testing::TestWithParam<litmus> {};
TEST_P(Writers, Litmus) {
  expect_images(GetParam(), false);
}
INSTANTIATE_TEST_SUITE_P(Litmus, Writers, ::testing::ValuesIn(writers), name_of);

class Streamed : public ::testing::TestWithParam<litmus> {};
TEST_P(Streamed, Litmus) {
  expect_images(GetParam(), false);
}
INSTANTIATE_TEST_SUITE_P(Litmus, Streamed, ::testing::ValuesIn(streamed), name_of);

class Mixed : public ::testing::TestWithParam<litmus> {};
TEST_P(Mixed, Litmus) {
  expect_images(GetParam(), false);
}
INSTANTIATE_TEST_SUITE_P(Litmus, Mixed, ::testing::ValuesIn(mixed), name_of);

class Found : public ::testing::TestWithParam<litmus> {};
TEST_P(Found, Litmus) {
  expect_images(GetParam(), false);
}
INSTANTIATE_TEST_SUITE_P(Litmus, Found, ::testing::ValuesIn(found), name_of);

class DurableCaches : public ::testing::TestWithParam<litmus> {};
TEST_P(DurableCaches, Litmus) {
  expect_images(GetParam(), true);
}
INSTANTIATE_TEST_SUITE_P(Litmus, DurableCaches, ::testing::ValuesIn(durable_caches), name_of);

}  // namespace
}  // namespace scute::testing
