import type { TraceDetail } from '../../database/passages-table.ts'

/** A picture or a page with one byte for each pixel; 0 is black. */
export interface GreyImage {
  readonly width: number
  readonly height: number
  readonly data: Uint8Array
}

type Region = NonNullable<TraceDetail['region']>

/** Pixels of letters differ from the background by at least this much; paper and the noise of scanners differ by less. */
export const MIN_CONTRAST = 32
/** In a text, gaps between lines have at least this share of the rows of pixels; across the lines there are no such gaps. */
const MIN_GAPS = 0.15
/** A row of pixels with a smaller share of ink counts as empty, since pages have borders and stains. */
const MIN_INK_SHARE = 0.005

/** Returns the commonest grey. */
export function backgroundOf({ data }: GreyImage): number {
  const counts = new Uint32Array(256)
  for (const grey of data) counts[grey] = (counts[grey] ?? 0) + 1
  return counts.indexOf(Math.max(...counts))
}

/**
 * Returns the turns, in clockwise quarters, that may make the text of a page legible, the likeliest first: one or three quarters if gaps
 * between lines run from top to bottom, two if they run across, and none for a photograph, which has no such gaps.
 */
export function likelyTurns(image: GreyImage): readonly number[] {
  const { width, height, data } = image
  const background = backgroundOf(image)
  const [rows, columns] = [new Uint32Array(height), new Uint32Array(width)]
  for (const [index, grey] of data.entries()) {
    if (Math.abs(grey - background) < MIN_CONTRAST) continue
    const [row, column] = [Math.floor(index / width), index % width]
    rows[row] = (rows[row] ?? 0) + 1
    columns[column] = (columns[column] ?? 0) + 1
  }
  const [across, along] = [gapsOf(rows, width), gapsOf(columns, height)]
  if (Math.max(across, along) < MIN_GAPS) return []
  return along > across ? [1, 3] : [2]
}

/** Returns the share of empty rows of pixels between the first and the last one that is not; `ink` has the pixels of ink of each row. */
function gapsOf(ink: Uint32Array, length: number): number {
  const isEmpty = (count: number) => count < MIN_INK_SHARE * length
  const from = ink.findIndex((count) => !isEmpty(count))
  const to = ink.findLastIndex((count) => !isEmpty(count))
  return from < 0 ? 0 : ink.subarray(from, to).filter(isEmpty).length / (to - from || 1)
}

/** Returns the image turned clockwise by `quarters` of a turn. */
export function turn(image: GreyImage, quarters: number): GreyImage {
  if (quarters === 0) return image
  const { width, height, data } = image
  const turned = new Uint8Array(data.length)
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1) turned[x * height + (height - 1 - y)] = data[y * width + x] ?? 0
  return turn({ width: height, height: width, data: turned }, quarters - 1)
}

/** Returns a region of a page that was turned as the same region of the upright page. */
export function turnBack(region: Region, quarters: number): Region {
  if (quarters === 0) return region
  const { left, top, width, height } = region
  const before = { left: top, top: Number((1 - left - width).toFixed(4)), width: height, height: width }
  return turnBack(before, quarters - 1)
}
