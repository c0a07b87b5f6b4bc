/** Receipts must be recorded, so nothing is uploaded when less than this is free on the disk of the store. */
export const RESERVE_BYTES = 64 * 2 ** 20
