import { networkInterfaces } from 'node:os'

/** Whether this machine has the IPv6 loopback address; containers often have none. */
export const hasIpv6 = Object.values(networkInterfaces()).some((list) => list?.some(({ address }) => address === '::1'))
