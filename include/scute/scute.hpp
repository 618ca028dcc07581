// SPDX-License-Identifier: BSD-3-Clause
//
// scute.hpp: the C++ interface of Scute, a persistent-memory object store.
//
// A *pool* (pool.hpp) is one file of objects. An object is any storable type (storable.hpp), and
// ptr<T> refers to it (ptr.hpp). Read it through the pool or a transaction (reader.hpp). Change it
// in transactions (tx.hpp), which survive a crash whole or not at all. Failures throw scute::error
// (error.hpp). Containers are in scute/containers/, one header each, or all of them through
// scute/containers.hpp.
//
// Header-only, C++20, over the C interface scute.h alone: what is linked is the C library.
#ifndef SCUTE_SCUTE_HPP
#define SCUTE_SCUTE_HPP

#include <scute/scute.h>          // IWYU pragma: export
#include <scute/error.hpp>        // IWYU pragma: export
#include <scute/objects.hpp>      // IWYU pragma: export
#include <scute/options.hpp>      // IWYU pragma: export
#include <scute/ownership.hpp>    // IWYU pragma: export
#include <scute/pool.hpp>         // IWYU pragma: export
#include <scute/ptr.hpp>          // IWYU pragma: export
#include <scute/reader.hpp>       // IWYU pragma: export
#include <scute/scrub.hpp>        // IWYU pragma: export
#include <scute/storable.hpp>     // IWYU pragma: export
#include <scute/tx.hpp>           // IWYU pragma: export
#include <scute/type_number.hpp>  // IWYU pragma: export

#endif
