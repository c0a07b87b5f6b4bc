import type { Check } from './check.ts'
import { daemon } from './daemon/daemon.ts'
import { systemService } from './daemon/system-service.ts'
import { configuration } from './here/configuration.ts'
import { disk } from './here/disk.ts'
import { embedder } from './here/embedder.ts'
import { library } from './here/library.ts'
import { mirrors } from './here/mirrors.ts'
import { overlap } from './here/overlap.ts'
import { permissions } from './here/permissions.ts'
import { state } from './here/state.ts'
import { watches } from './here/watches.ts'
import { certificate } from './service/certificate.ts'
import { clock } from './service/clock.ts'
import { credential } from './service/credential.ts'
import { interfaceCheck } from './service/interface.ts'
import { proxy } from './service/proxy.ts'
import { rights } from './service/rights.ts'
import { service } from './service/service.ts'

/** All checks, in the order in which they run and are shown. */
export const CHECKS: readonly Check[] = [
  configuration,
  permissions,
  mirrors,
  overlap,
  proxy,
  certificate,
  service,
  credential,
  rights,
  interfaceCheck,
  clock,
  state,
  library,
  embedder,
  disk,
  watches,
  systemService,
  daemon,
]
