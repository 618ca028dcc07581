// SPDX-License-Identifier: BSD-3-Clause
// drill.hpp: spoils a run on purpose, to see that the verification notices: an instrument that
// cannot fail proves nothing.
#pragma once

#include "cast.hpp"

#include <string>
#include <vector>

namespace scute_torture {

// stale   the file of an earlier kill comes back, so that committed transactions are lost
// byte    one byte of an object is flipped in the file, after recovery has ended (before that,
//         recovery cannot tell such a byte from one that the kill left half-written, and may repair
//         it)
// column  one byte of an object and of all parity over it are flipped, before recovery has ended
// write   a proper transaction, which the model does not know of, changes an object's bytes
// extra   an object appears that no writer made
// hoard   an object stays when everything was to be freed
// lock    a child of a worker has the pool open when its parent was killed
const std::vector<std::string>& drills();

// After a kill, before the verification; `earlier` is a copy of the pool as another kill left it.
// False if no writer has an object yet that could be spoilt.
bool spoil(const std::string& drill, const std::string& path, const std::string& earlier,
           const scute::options& how, const cast& actors);

// Before the space is measured.
void hoard(const scute::pool& pool);

}  // namespace scute_torture
