import type { DashboardClient } from './api/dashboard-client.ts'

/** Opens the original of a resource in a tab of its own, which cannot reach this page. */
export async function openDocument(client: DashboardClient, resourceId: string): Promise<void> {
  const { url } = await client.call('openDocument', { resourceId })
  // Any other address, such as one of javascript:, would run on this page.
  if (!/^https?:/.test(url)) throw new Error('The document has no address that can be opened')
  window.open(url, '_blank', 'noopener,noreferrer')
}
