/* Every header of the titan ABI. */
#pragma once
#include "titan/abi/base.h"
#include "titan/abi/collective.h"
#include "titan/abi/host.h"
#include "titan/abi/model.h"
#include "titan/abi/observer.h"
#include "titan/abi/options.h"
#include "titan/abi/plugin.h"
#include "titan/abi/schedule.h"
#include "titan/abi/strategy.h"
#include "titan/abi/tensor.h"
#include "titan/abi/tree.h"
