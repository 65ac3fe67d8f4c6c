"""Countries, continents, states of the USA: their names, codes, and what people and things are called.

The codes are those of ISO 3166-1 and of the postal service of the USA.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from mrag.text.tokens import keys

_COUNTRIES: Final = """
Afghanistan|AF|AFG|Afghan,Afghani
Albania|AL|ALB|Albanian
Algeria|DZ|DZA|Algerian
Andorra|AD|AND|Andorran
Angola|AO|AGO|Angolan
Argentina|AR|ARG|Argentine,Argentinian,Argentinean
Armenia|AM|ARM|Armenian
Australia|AU|AUS|Australian,Aussie
Austria|AT|AUT|Austrian
Azerbaijan|AZ|AZE|Azerbaijani,Azeri
Bahamas|BS|BHS|Bahamian|The Bahamas
Bahrain|BH|BHR|Bahraini
Bangladesh|BD|BGD|Bangladeshi
Barbados|BB|BRB|Barbadian
Belarus|BY|BLR|Belarusian,Belarusan
Belgium|BE|BEL|Belgian
Belize|BZ|BLZ|Belizean
Benin|BJ|BEN|Beninese
Bhutan|BT|BTN|Bhutanese
Bolivia|BO|BOL|Bolivian|Plurinational State of Bolivia
Bosnia and Herzegovina|BA|BIH|Bosnian,Herzegovinian|Bosnia,Bosnia-Herzegovina
Botswana|BW|BWA|Botswanan,Motswana
Brazil|BR|BRA|Brazilian|Brasil
Brunei|BN|BRN|Bruneian|Brunei Darussalam
Bulgaria|BG|BGR|Bulgarian
Burkina Faso|BF|BFA|Burkinabe
Burundi|BI|BDI|Burundian
Cambodia|KH|KHM|Cambodian
Cameroon|CM|CMR|Cameroonian
Canada|CA|CAN|Canadian
Cape Verde|CV|CPV|Cape Verdean|Cabo Verde
Central African Republic|CF|CAF|Central African
Chad|TD|TCD|Chadian
Chile|CL|CHL|Chilean
China|CN|CHN|Chinese|People's Republic of China,PRC
Colombia|CO|COL|Colombian
Comoros|KM|COM|Comorian
Congo|CG|COG|Congolese|Republic of the Congo,Congo-Brazzaville
Costa Rica|CR|CRI|Costa Rican
Croatia|HR|HRV|Croatian,Croat
Cuba|CU|CUB|Cuban
Cyprus|CY|CYP|Cypriot
Czech Republic|CZ|CZE|Czech|Czechia
Democratic Republic of the Congo|CD|COD|Congolese|DR Congo,DRC,Congo-Kinshasa,Zaire
Denmark|DK|DNK|Danish,Dane
Djibouti|DJ|DJI|Djiboutian
Dominica|DM|DMA|Dominican
Dominican Republic|DO|DOM|Dominican
East Timor|TL|TLS|Timorese,East Timorese|Timor-Leste
Ecuador|EC|ECU|Ecuadorian,Ecuadorean
Egypt|EG|EGY|Egyptian
El Salvador|SV|SLV|Salvadoran,Salvadorian
England||ENG|English,Englishman
Equatorial Guinea|GQ|GNQ|Equatorial Guinean,Equatoguinean
Eritrea|ER|ERI|Eritrean
Estonia|EE|EST|Estonian
Eswatini|SZ|SWZ|Swazi|Swaziland
Ethiopia|ET|ETH|Ethiopian
Fiji|FJ|FJI|Fijian
Finland|FI|FIN|Finnish,Finn
France|FR|FRA|French,Frenchman
Gabon|GA|GAB|Gabonese
Gambia|GM|GMB|Gambian|The Gambia
Georgia|GE|GEO|Georgian
Germany|DE|DEU|German|Federal Republic of Germany
Ghana|GH|GHA|Ghanaian
Greece|GR|GRC|Greek|Hellenic Republic
Greenland|GL|GRL|Greenlandic,Greenlander
Grenada|GD|GRD|Grenadian
Guatemala|GT|GTM|Guatemalan
Guinea|GN|GIN|Guinean
Guinea-Bissau|GW|GNB|Bissau-Guinean
Guyana|GY|GUY|Guyanese
Haiti|HT|HTI|Haitian
Honduras|HN|HND|Honduran
Hong Kong|HK|HKG|Hongkonger
Hungary|HU|HUN|Hungarian
Iceland|IS|ISL|Icelandic,Icelander
India|IN|IND|Indian
Indonesia|ID|IDN|Indonesian
Iran|IR|IRN|Iranian,Persian|Islamic Republic of Iran
Iraq|IQ|IRQ|Iraqi
Ireland|IE|IRL|Irish,Irishman|Republic of Ireland,Eire
Israel|IL|ISR|Israeli
Italy|IT|ITA|Italian|Italia
Ivory Coast|CI|CIV|Ivorian|Cote d'Ivoire
Jamaica|JM|JAM|Jamaican
Japan|JP|JPN|Japanese
Jordan|JO|JOR|Jordanian
Kazakhstan|KZ|KAZ|Kazakh,Kazakhstani
Kenya|KE|KEN|Kenyan
Kiribati|KI|KIR|I-Kiribati
Kosovo|XK|XKX|Kosovar,Kosovan
Kuwait|KW|KWT|Kuwaiti
Kyrgyzstan|KG|KGZ|Kyrgyz,Kyrgyzstani
Laos|LA|LAO|Laotian,Lao|Lao People's Democratic Republic
Latvia|LV|LVA|Latvian
Lebanon|LB|LBN|Lebanese
Lesotho|LS|LSO|Basotho
Liberia|LR|LBR|Liberian
Libya|LY|LBY|Libyan
Liechtenstein|LI|LIE|Liechtensteiner
Lithuania|LT|LTU|Lithuanian
Luxembourg|LU|LUX|Luxembourgish,Luxembourger
Macau|MO|MAC|Macanese|Macao
Madagascar|MG|MDG|Malagasy
Malawi|MW|MWI|Malawian
Malaysia|MY|MYS|Malaysian
Maldives|MV|MDV|Maldivian
Mali|ML|MLI|Malian
Malta|MT|MLT|Maltese
Marshall Islands|MH|MHL|Marshallese
Mauritania|MR|MRT|Mauritanian
Mauritius|MU|MUS|Mauritian
Mexico|MX|MEX|Mexican
Micronesia|FM|FSM|Micronesian|Federated States of Micronesia
Moldova|MD|MDA|Moldovan|Republic of Moldova
Monaco|MC|MCO|Monegasque,Monacan
Mongolia|MN|MNG|Mongolian
Montenegro|ME|MNE|Montenegrin
Morocco|MA|MAR|Moroccan
Mozambique|MZ|MOZ|Mozambican
Myanmar|MM|MMR|Burmese|Burma
Namibia|NA|NAM|Namibian
Nauru|NR|NRU|Nauruan
Nepal|NP|NPL|Nepalese,Nepali
Netherlands|NL|NLD|Dutch,Dutchman,Netherlander|The Netherlands,Holland
New Zealand|NZ|NZL|New Zealander,Kiwi
Nicaragua|NI|NIC|Nicaraguan
Niger|NE|NER|Nigerien
Nigeria|NG|NGA|Nigerian
North Korea|KP|PRK|North Korean|Democratic People's Republic of Korea,DPRK
North Macedonia|MK|MKD|Macedonian|Macedonia
Northern Ireland||NIR|Northern Irish
Norway|NO|NOR|Norwegian
Oman|OM|OMN|Omani
Pakistan|PK|PAK|Pakistani
Palau|PW|PLW|Palauan
Palestine|PS|PSE|Palestinian|State of Palestine
Panama|PA|PAN|Panamanian
Papua New Guinea|PG|PNG|Papua New Guinean,Papuan
Paraguay|PY|PRY|Paraguayan
Peru|PE|PER|Peruvian
Philippines|PH|PHL|Filipino,Philippine|The Philippines
Poland|PL|POL|Polish
Portugal|PT|PRT|Portuguese
Puerto Rico|PR|PRI|Puerto Rican
Qatar|QA|QAT|Qatari
Romania|RO|ROU|Romanian
Russia|RU|RUS|Russian|Russian Federation
Rwanda|RW|RWA|Rwandan
Saint Kitts and Nevis|KN|KNA|Kittitian,Nevisian|St Kitts and Nevis
Saint Lucia|LC|LCA|Saint Lucian|St Lucia
Saint Vincent and the Grenadines|VC|VCT|Vincentian|St Vincent and the Grenadines
Samoa|WS|WSM|Samoan
San Marino|SM|SMR|Sammarinese
Sao Tome and Principe|ST|STP|Sao Tomean
Saudi Arabia|SA|SAU|Saudi,Saudi Arabian|KSA
Scotland||SCO|Scottish,Scot,Scotsman
Senegal|SN|SEN|Senegalese
Serbia|RS|SRB|Serbian,Serb
Seychelles|SC|SYC|Seychellois
Sierra Leone|SL|SLE|Sierra Leonean
Singapore|SG|SGP|Singaporean
Slovakia|SK|SVK|Slovak,Slovakian|Slovak Republic
Slovenia|SI|SVN|Slovenian,Slovene
Solomon Islands|SB|SLB|Solomon Islander
Somalia|SO|SOM|Somali,Somalian
South Africa|ZA|ZAF|South African|RSA
South Korea|KR|KOR|South Korean,Korean|Republic of Korea,Korea
South Sudan|SS|SSD|South Sudanese
Spain|ES|ESP|Spanish,Spaniard|Espana
Sri Lanka|LK|LKA|Sri Lankan
Sudan|SD|SDN|Sudanese
Suriname|SR|SUR|Surinamese
Sweden|SE|SWE|Swedish,Swede
Switzerland|CH|CHE|Swiss
Syria|SY|SYR|Syrian|Syrian Arab Republic
Taiwan|TW|TWN|Taiwanese
Tajikistan|TJ|TJK|Tajik,Tajikistani
Tanzania|TZ|TZA|Tanzanian|United Republic of Tanzania
Thailand|TH|THA|Thai
Togo|TG|TGO|Togolese
Tonga|TO|TON|Tongan
Trinidad and Tobago|TT|TTO|Trinidadian,Tobagonian|Trinidad
Tunisia|TN|TUN|Tunisian
Turkey|TR|TUR|Turkish,Turk|Turkiye
Turkmenistan|TM|TKM|Turkmen
Tuvalu|TV|TUV|Tuvaluan
Uganda|UG|UGA|Ugandan
Ukraine|UA|UKR|Ukrainian
United Arab Emirates|AE|ARE|Emirati|UAE,The United Arab Emirates
United Kingdom|GB|GBR|British,Briton|UK,Great Britain,Britain,The United Kingdom
United States|US|USA|American|United States of America,The United States,America,The USA
Uruguay|UY|URY|Uruguayan
Uzbekistan|UZ|UZB|Uzbek,Uzbekistani
Vanuatu|VU|VUT|Vanuatuan
Vatican City|VA|VAT|Vatican|Holy See,Vatican
Venezuela|VE|VEN|Venezuelan|Bolivarian Republic of Venezuela
Vietnam|VN|VNM|Vietnamese|Viet Nam
Wales||WLS|Welsh,Welshman
Yemen|YE|YEM|Yemeni
Zambia|ZM|ZMB|Zambian
Zimbabwe|ZW|ZWE|Zimbabwean
Africa|||African
Antarctica|||Antarctic
Asia|||Asian
Europe|||European
North America|||North American
Oceania|||Oceanian
South America|||South American
"""

_STATES: Final = """
Alabama AL;Alaska AK;Arizona AZ;Arkansas AR;California CA;Colorado CO;Connecticut CT;Delaware DE;
District of Columbia DC;Florida FL;Georgia GA;Hawaii HI;Idaho ID;Illinois IL;Indiana IN;Iowa IA;Kansas KS;
Kentucky KY;Louisiana LA;Maine ME;Maryland MD;Massachusetts MA;Michigan MI;Minnesota MN;Mississippi MS;
Missouri MO;Montana MT;Nebraska NE;Nevada NV;New Hampshire NH;New Jersey NJ;New Mexico NM;New York NY;
North Carolina NC;North Dakota ND;Ohio OH;Oklahoma OK;Oregon OR;Pennsylvania PA;Rhode Island RI;
South Carolina SC;South Dakota SD;Tennessee TN;Texas TX;Utah UT;Vermont VT;Virginia VA;Washington WA;
West Virginia WV;Wisconsin WI;Wyoming WY
"""


@lru_cache(maxsize=1)
def _places() -> dict[str, tuple[tuple[str, ...], ...]]:
    """Return all that each place is called, by each folded form of it."""
    found: dict[str, dict[tuple[str, ...], None]] = {}
    for line in _COUNTRIES.split("\n"):
        name, two, three, people, others = (*line.split("|"), "", "", "", "")[:5]
        forms = (name, *others.split(","), *people.split(","), three, two)
        _add(found, tuple(form for form in forms if form))
    for entry in _STATES.replace("\n", "").split(";"):
        name, _, code = entry.rpartition(" ")
        _add(found, (name, code))
    return {key: tuple(forms) for key, forms in found.items()}


def other_names(words: str, *, capital: bool) -> list[str]:
    """Return what else a country or a state is called, likeliest first.

    Args:
        words: A name, a code, or what the people are called.
        capital: Whether it is written in capitals, as codes of two letters must be.

    Example:
        >>> other_names("Spanish", capital=False)
        ['Spain', 'Espana', 'Spaniard', 'ESP', 'ES']
        >>> other_names("TX", capital=True), other_names("in", capital=False)
        (['Texas'], [])
    """
    key = "".join(keys(words))
    if len(key) == 2 and not capital and key != "uk":
        return []
    return list(dict.fromkeys(f for forms in _places().get(key, ()) for f in forms if _folded(f) != key))


def _add(found: dict[str, dict[tuple[str, ...], None]], forms: tuple[str, ...]) -> None:
    for form in forms:
        found.setdefault(_folded(form), {})[forms] = None


def _folded(text: str) -> str:
    return "".join(keys(text))
