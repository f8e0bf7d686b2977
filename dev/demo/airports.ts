import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The airports of the file by the IANA time zone their clocks showed in 2001. */
const zones: Record<string, string> = {
  'America/New_York':
    'ABE ALB APF ATL AVL AVP BDL BGM BGR BOS BTV BUF BWI CAE CAK CHA CHS CLE CLT CMH CRW CVG DAB DAY DCA ELM ERI EWR EYW FAY FLL GSO GSP HPN IAD ILM ISP ITH JAX JFK LEX LGA MCO MDT MHT MIA MLB MYR ORF ORH PBI PHL PIT PVD PWM RDU RIC ROA ROC RSW SAV SRQ SWF SYR TLH TOL TPA TRI TYS',
  'America/Detroit': 'AZO DTW FNT GRR LAN MBS TVC',
  'America/Kentucky/Louisville': 'SDF',
  'America/Indiana/Indianapolis': 'FWA IND SBN',
  'America/Chicago':
    'ABI ACT AMA AUS BHM BIS BMI BNA BPT BRO BTR CID CLL CMI CRP DAL DBQ DFW DLH DSM EVV FAR FSD FSM GGG GPT GRB HOU HRL HSV IAH ICT ILE JAN LAW LBB LFT LIT LNK LRD LSE MAF MCI MDW MEM MFE MKE MLI MLU MOB MOT MSN MSP MSY OKC OMA ORD PIA PNS RST SAT SGF SHV SJT SPS STL SUX TUL TXK TYR VPS XNA',
  'America/Denver': 'ABQ BIL BZN COS DEN DRO EGE ELP FCA GTF GUC HDN HLN JAC MSO MTJ RAP SLC',
  'America/Boise': 'BOI',
  'America/Phoenix': 'PHX TUS',
  'America/Los_Angeles':
    'BFL BUR EUG FAT GEG LAS LAX LGB MFR MRY OAK ONT PDX PSC PSP RNO SAN SBA SBP SEA SFO SJC SMF SNA',
  'America/Anchorage': 'ANC BET BRW CDV DUT FAI JNU KTN OME OTZ PSG SCC SIT WRG',
  'Pacific/Honolulu': 'HNL ITO KOA LIH OGG',
  'America/Puerto_Rico': 'BQN SJU',
  'America/St_Thomas': 'STT STX',
};

const zoneByCode = new Map(
  Object.entries(zones).flatMap(([zone, codes]) => codes.split(' ').map((code) => [code, zone])),
);

/** The zone of an airport of the file. */
export function zoneOf(code: string): string {
  const zone = zoneByCode.get(code);
  if (!zone) throw new Error(`the airport ${code} has no time zone in dev/demo/airports.ts; add it`);
  return zone;
}

/** What the airports of the data package are called, by code. */
export function airportNames(packageDirectory: string): Map<string, string> {
  const lines = readFileSync(join(packageDirectory, 'data/airports.csv'), 'utf8').split('\n');
  return new Map(
    lines.flatMap((line) => {
      const [, code = '', quoted, plain] = /^(\w+),(?:"([^"]*)"|([^,]*)),/.exec(line) ?? [];
      return code === '' ? [] : [[code, (quoted ?? plain ?? code).trim()]];
    }),
  );
}
